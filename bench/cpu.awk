# Makes tables and verdicts of what bench/sweep prints: awk -f cpu.awk RAW. Any POSIX awk.
#
# A line is key=value key=value ..., or a failure, which begins with FAIL:.

BEGIN { wanted = 35; at = 100000 }

function grouped(n) {
	n += 0
	return n >= 1000 ? grouped(int(n / 1000)) " " sprintf("%03d", n % 1000) : n ""
}

function short(x) {
	x += 0
	return sprintf(x >= 100 ? "%.0f" : "%.1f", x)
}

function read_line(i, at) {
	split("", f)
	for (i = 1; i <= NF; i++) {
		at = index($i, "=")
		f[substr($i, 1, at - 1)] = substr($i, at + 1)
	}
}

# Of few buffers the lines alone would be what looking at the clock takes.
function read_sweeps() {
	sweeps[++rows] = "| " grouped(f["buffers"]) " | " f["order"] " | " f["pace"] " | " short(f["ns_per_buffer"]) " | " \
		short(f["least"]) " to " short(f["most"]) " | " (f["buffers"] < 1000 ? "-" : short(f["lines_alone"])) " | " \
		short(f["us_per_sweep"]) " | " f["sweeps"] " |"
	if (f["buffers"] + 0 == at)
		verdict[++verdicts] = (f["ns_per_buffer"] + 0 <= wanted ? "met" : "missed") ": " grouped(at) " buffers, " \
			f["order"] ", " f["pace"] ": " short(f["ns_per_buffer"]) " ns per buffer (wanted: at most " wanted \
			"; its two lines alone: " short(f["lines_alone"]) ")"
}

/^FAIL:/ { failure[++failures] = $0; next }
{ read_line() }
"asked" in f {
	if (f["asked"] != f["buffers"])
		cut[f["asked"]] = grouped(f["asked"]) " buffers have no room for their canary pages in " f["limit_mib"] \
			" MiB: " grouped(f["buffers"]) " instead."
}
"stolen" in f {
	stolen = sprintf("Of the time that this machine's CPUs were wanted, %.1f %% went to other virtual machines.", \
		100 * f["stolen"] / (f["stolen"] + f["ran"] + 0.01))
}
"pace" in f { read_sweeps() }
# Hardly the same twice for so few, and the same in both orders.
"bytes_per_buffer" in f && f["buffers"] + 0 >= 1000 && !(f["buffers"] in kept) {
	kept[f["buffers"]] = 1
	memory[++kinds] = "| " grouped(f["buffers"]) " | " f["bytes_per_buffer"] " | " f["record_bytes"] " | " \
		f["canary_page_bytes"] " | " short(f["allocate_ns"] / 1000) " | " short(f["write_ns"] / 1000) " | " \
		short(f["free_ns"] / 1000) " | " short(f["verify_ns"] / 1000) " |"
}

END {
	for (i = 1; i <= verdicts; i++)
		print "- " verdict[i]
	if (!verdicts)
		print "- not measured: " grouped(at) " buffers (wanted: at most " wanted " ns per buffer)"
	for (i = 1; i <= failures; i++)
		print "- " failure[i]
	for (i in cut)
		print "\n" cut[i]
	if (stolen)
		print "\n" stolen
	print "\nNanoseconds of CPU time per buffer and sweep, the median, least and most of whole sweeps, and the median of" \
		" passes that only read its two lines:\n"
	print "| Buffers | Order | Pace | ns per buffer | from, to | its two lines alone | us per sweep | Sweeps |"
	print "| ---: | --- | --- | ---: | ---: | ---: | ---: | ---: |"
	for (i = 1; i <= rows; i++)
		print sweeps[i]
	print "\nHost memory per buffer, and microseconds of GMOD's own work per allocation and free:\n"
	print "| Buffers | Registry and index, bytes | of it the record | Canary pages, bytes | Allocate | of it writing canaries | Free | of it verifying them |"
	print "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
	for (i = 1; i <= kinds; i++)
		print memory[i]
}
