/*
 * void *dlsym(void *handle, const char *symbol)
 *
 * A tail jump, not a call: the next dlsym finds its caller by the return address, and for RTLD_NEXT and
 * RTLD_DEFAULT that must be our caller's, not ours.
 */
#if defined(__x86_64__)
	.text
	.globl	dlsym
	.type	dlsym, @function
dlsym:
	.cfi_startproc
	endbr64
	subq	$40, %rsp
	.cfi_adjust_cfa_offset 40
	movq	%rdi, 8(%rsp)
	movq	%rsi, 16(%rsp)
	leaq	24(%rsp), %rdx		/* dlsym_fn *jump_to */
	movq	40(%rsp), %rcx		/* const void *caller */
	call	gmod_dlsym_target
	movq	8(%rsp), %rdi
	movq	16(%rsp), %rsi
	movq	24(%rsp), %r11
	addq	$40, %rsp
	.cfi_adjust_cfa_offset -40
	testq	%rax, %rax
	jz	1f
	ret
1:	jmp	*%r11
	.cfi_endproc
	.size	dlsym, .-dlsym
#else
#error "libgmod's dlsym entry is written for x86-64 only"
#endif
	.section .note.GNU-stack, "", @progbits
