# Makes tables and verdicts of what bench/inkernel prints: awk -v section=NAME -f inkernel.awk RAW. Any POSIX awk.
#
# A line is key=value key=value ..., or a failure, which begins with FAIL:.

# ---- numbers ----

# The values of one metric of a case, over rounds and the arms given: sorted, in v[1..n]. Returns n.
function values(metric, c, arms, list, i, j, k, n, x) {
	n = 0
	split(arms, list, " ")
	for (i = 1; i in list; i++)
		for (k = 1; (metric, c, list[i], k) in measured; k++) {
			x = measured[metric, c, list[i], k]
			for (j = ++n; j > 1 && v[j - 1] > x; j--)
				v[j] = v[j - 1]
			v[j] = x
		}
	return n
}

# Their median; -1: there are none.
function middle(metric, c, arms, n) {
	n = values(metric, c, arms)
	return !n ? -1 : n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}

function ms(x) {
	x += 0
	return sprintf(x >= 100 ? "%.0f" : x >= 10 ? "%.1f" : x >= 1 ? "%.2f" : x >= 0.1 ? "%.3f" : "%.4f", x)
}

# "median (least to most)"
function spread(metric, c, arms, n, m) {
	m = middle(metric, c, arms)
	if (m < 0)
		return "-"
	n = values(metric, c, arms)
	return ms(m) " (" ms(v[1]) " to " ms(v[n]) ")"
}

# How many times faster than CUDA to the end of its kernels; -1: not known.
function gain(metric, c, arm, cuda, m) {
	cuda = middle("kernel_ms", c, "cuda again")
	m = middle(metric, c, arm)
	return cuda < 0 || m <= 0 ? -1 : cuda / m
}

function times(x) {
	return x < 0 ? "-" : sprintf(x >= 10 ? "%.1fx" : "%.2fx", x)
}

# How much slower the second set of processes without GMOD is.
function apart(c, a, b) {
	a = middle("kernel_ms", c, "cuda")
	b = middle("kernel_ms", c, "again")
	return a <= 0 || b < 0 ? "-" : sprintf("%+.1f %%", (b / a - 1) * 100)
}

function grouped(n) {
	n += 0
	return n >= 1000 ? grouped(int(n / 1000)) " " sprintf("%03d", n % 1000) : n ""
}

function name_of(c, parts) {
	split(c, parts, " ")
	return parts[1] ", " grouped(parts[2]) " threads"
}

# ---- reading ----

function read_line(i, at) {
	split("", f)
	for (i = 1; i <= NF; i++) {
		at = index($i, "=")
		if (at)
			f[substr($i, 1, at - 1)] = substr($i, at + 1)
	}
}

function note(metric, c, arm, k) {
	if (!(metric in f))
		return
	for (k = 1; (metric, c, arm, k) in measured; k++)
		;
	measured[metric, c, arm, k] = f[metric] + 0
}

function fail(text) {
	failure[++failures] = text
}

function read_case(c) {
	c = f["case"] " " f["threads"]
	if (!(c in checksum)) {
		row[++rows] = c
		checksum[c] = f["checksum"]
	}
	if (f["checksum"] != checksum[c]) {
		fail("FAIL: " name_of(c) ": another checksum: " f["arm"] ", round " f["round"])
		return
	}
	note("kernel_ms", c, f["arm"])
	note("quiet_ms", c, f["arm"])
}

/^FAIL:/ { fail($0); next }
{ read_line() }
"case" in f { read_case(); next }
"beside_ms" in f || "pairs" in f {
	row[++rows] = $0
	if (f["arm"] == "cuda")
		beside[f["buffers"]] = f["beside_ms"]
}

# ---- verdicts ----

function verdict(good, known, text) {
	print "- " (!known ? "not measured" : good ? "met" : "missed") ": " text
}

# One case: at least `least` times faster.
function verdict_case(metric, c, arm, least, what, g) {
	g = gain(metric, c, arm)
	verdict(g >= least, g >= 0, what ": " times(g) " (wanted: " least "x or more)")
}

# All cases whose name and threads match: none of them less than `least` times as fast. `wanted`: how many there are.
function verdict_worst(pattern, arm, least, wanted, what, text, i, g, known, worst, where) {
	known = 0
	worst = -1
	for (i = 1; i <= rows; i++) {
		if (row[i] !~ pattern || (g = gain("kernel_ms", row[i], arm)) < 0)
			continue
		known++
		if (worst < 0 || g < worst) {
			worst = g
			where = row[i]
		}
	}
	text = what
	if (known)
		text = text ": least " sprintf("%.3fx", worst) ", " name_of(where) " (wanted: " text_of(least) \
			"; two runs of CUDA's differ there by " apart(where) ")"
	if (known && known < wanted)
		text = text "; " known " of " wanted " cases so far"
	verdict(worst >= least, known == wanted, text)
}

function text_of(least) {
	return least == 1 ? "1x or more" : sprintf("%.3fx or more", least)
}

# ---- tables ----

function table_row(c, quiet, parts) {
	split(c, parts, " ")
	printf "| %s | %s | %s | %s | %s | %s |", parts[1], grouped(parts[2]), spread("kernel_ms", c, "cuda again"), apart(c),
		spread("kernel_ms", c, "slab"), times(gain("kernel_ms", c, "slab"))
	if (quiet)
		printf " %s | %s |", spread("quiet_ms", c, "slab"), times(gain("quiet_ms", c, "slab"))
	printf " %s | %s |", spread("kernel_ms", c, "native"), times(gain("kernel_ms", c, "native"))
	if (quiet)
		printf " %s | %s |", spread("quiet_ms", c, "native"), times(gain("quiet_ms", c, "native"))
	print ""
}

function legend() {
	print ""
	print "Milliseconds: the median of the rounds, and in brackets the least and the greatest. CUDA is malloc and free without"
	print "GMOD, from two sets of processes; A/A is how much slower the second set is. Slab and native are mallocN and freeN"
	print "under GMOD with device_heap=slab and =native. x is CUDA's time divided by the one before: above 1 is faster."
}

function programs(i) {
	print "| program | threads | CUDA | A/A | slab | x | slab, until quiet | x | native | x | native, until quiet | x |"
	print "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
	for (i = 1; i <= rows; i++)
		table_row(row[i], 1)
	legend()
	print "\"Until quiet\" is from the launch until the guard has verified and released every buffer: no buffer live, none waiting."
	print ""
	verdict_case("kernel_ms", "alloc-dealloc 102400", "slab", 30, "slab, alloc-dealloc, 102 400 threads, to the end of the kernel")
	verdict_case("quiet_ms", "alloc-dealloc 102400", "slab", 10, "slab, alloc-dealloc, 102 400 threads, until quiet")
	verdict_worst(" 1024$", "slab", 1, 5, "slab, never slower than CUDA at 1 024 threads")
	verdict_worst("", "native", 1, 15, "native, never slower than CUDA")
}

function malloc(i) {
	print "| | threads | CUDA | A/A | slab | x | native | x |"
	print "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
	for (i = 1; i <= rows; i++)
		table_row(row[i], 0)
	legend()
	print "Each thread allocates 64 bytes; what is done with them is not timed."
	print ""
	verdict_worst("", "slab", 1, 3, "slab, faster than CUDA")
	verdict_worst("", "native", 1 / 1.11, 3, "native, at most 11 % slower than CUDA")
}

function latency(i) {
	print "| live buffers | guard workers | found after, ms | at most, ms | a kernel beside them, ms | the same without GMOD, ms |"
	print "| ---: | ---: | ---: | ---: | ---: | ---: |"
	for (i = 1; i <= rows; i++) {
		$0 = row[i]
		read_line()
		if (f["arm"] != "cuda")
			printf "| %s | %s | %s | %s | %s | %s |\n", grouped(f["buffers"]), f["guards"], ms(f["median_ms"]), ms(f["max_ms"]),
				ms(f["beside_ms"]), f["buffers"] in beside ? ms(beside[f["buffers"]]) : "-"
	}
	print ""
	print "From the store of one byte behind one buffer, at a random time in a kernel that runs on, to the finding: median and"
	print "greatest of nine trials. Buffers have 64 bytes; guard workers are device_guards, all else is default;"
	print "with \"persistent\", device_guard=persistent. The kernel"
	print "beside them has 20 480 threads, each of which allocates, writes, reads and frees 64 bytes four times: median of nine."
}

function stress(i) {
	print "| heap | pairs | pairs/s | seconds | not served | live at the end | MiB of heap at first, at last, at most | reclaims | guard passes |"
	print "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
	for (i = 1; i <= rows; i++) {
		$0 = row[i]
		read_line()
		printf "| %s | %s | %s | %s | %s | %s | %s, %s, %s | %s | %s |\n", f["arm"], grouped(f["pairs"]), f["pairs_per_s"], f["seconds"],
			grouped(f["failed"]), grouped(f["held"]), f["committed_before_mib"], f["committed_mib"], f["heap_mib"], grouped(f["reclaims"]), grouped(f["passes"])
	}
	print ""
	print "Buffers of 1 byte to 64 KiB from kernels on four streams. At the end program and guard agree on how many buffers are"
	print "live and on their bytes; then all are freed and the heap is empty; no buffer has lost its marks; no findings. \"Not"
	print "served\" are allocations that got NULL, \"reclaims\" scans by threads that were short of memory while no guard came for"
	print "10 ms."
	print ""
	grown = 0
	for (i = 1; i <= rows; i++) {
		$0 = row[i]
		read_line()
		grown += f["committed_mib"] + 0 > f["committed_before_mib"] + 0
		verdict(1, 1, f["arm"] ", " grouped(f["pairs"]) " pairs, " f["heap_mib"] " MiB: every buffer accounted for, the heap empty at the end")
	}
	verdict(grown, rows, "a heap has grown meanwhile")
}

END {
	if (section == "programs")
		programs()
	else if (section == "malloc")
		malloc()
	else if (section == "latency")
		latency()
	else
		stress()
	for (i = 1; i <= failures; i++)
		print "- " failure[i]
}
