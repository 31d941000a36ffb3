/*
 * The exec family, interposed: a look at the canaries (lib/life/ending.c), and a tail jump to the next function of the
 * name with the arguments as they came, however many there are. For x86-64, as lib/driver/dlsym_entry.S.
 */
	.macro hook name, index
	.globl	\name
	.type	\name, @function
\name:
	endbr64
	movl	$\index, %r10d
	jmp	look
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
	.cfi_endproc
	.size	look, .-look
	.section .note.GNU-stack, "", @progbits
