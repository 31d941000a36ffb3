/*
 * The exec family, interposed: a look at the canaries (lib/life/ending.c), and a tail jump to the next function of the
 * name with the arguments as they came, however many there are.
 */
	.macro hook name, index
	.globl	\name
	.type	\name, @function
\name:
#if defined(__x86_64__)
	endbr64
	movl	$\index, %r10d
	jmp	look
#elif defined(__aarch64__)
	hint	#34			/* bti c */
	mov	w9, #\index
	b	look
#else
#error "libgmod's exec entries are written for x86-64 and aarch64"
#endif
	.size	\name, .-\name
	.endm

	.text
	/* In the order of enum next. */
	hook	execve, 0
	hook	execv, 1
	hook	execvp, 2
	hook	execvpe, 3
	hook	execl, 4
	hook	execlp, 5
	hook	execle, 6
	hook	fexecve, 7
	hook	execveat, 8

	.type	look, @function
look:
	.cfi_startproc
#if defined(__x86_64__)
	.irp	register, rdi, rsi, rdx, rcx, r8, r9, rax
	pushq	%\register
	.cfi_adjust_cfa_offset 8
	.endr
	movl	%r10d, %edi
	call	gmod_before_exec
	movq	%rax, %r11
	.irp	register, rax, r9, r8, rcx, rdx, rsi, rdi
	popq	%\register
	.cfi_adjust_cfa_offset -8
	.endr
	jmp	*%r11
#else
	stp	x29, x30, [sp, #-96]!
	.cfi_def_cfa_offset 96
	.cfi_offset x29, -96
	.cfi_offset x30, -88
	mov	x29, sp
	stp	x0, x1, [sp, #16]
	stp	x2, x3, [sp, #32]
	stp	x4, x5, [sp, #48]
	stp	x6, x7, [sp, #64]
	str	x8, [sp, #80]
	mov	w0, w9
	bl	gmod_before_exec
	mov	x16, x0
	ldr	x8, [sp, #80]
	ldp	x6, x7, [sp, #64]
	ldp	x4, x5, [sp, #48]
	ldp	x2, x3, [sp, #32]
	ldp	x0, x1, [sp, #16]
	ldp	x29, x30, [sp], #96
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	br	x16
#endif
	.cfi_endproc
	.size	look, .-look
	.section .note.GNU-stack, "", @progbits
