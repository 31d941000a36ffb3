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
#elif defined(__aarch64__)
	.text
	.globl	dlsym
	.type	dlsym, @function
dlsym:
	.cfi_startproc
	hint	#34			/* bti c */
	stp	x29, x30, [sp, #-48]!
	.cfi_def_cfa_offset 48
	.cfi_offset x29, -48
	.cfi_offset x30, -40
	mov	x29, sp
	stp	x0, x1, [sp, #16]
	add	x2, sp, #32		/* dlsym_fn *jump_to */
	mov	x3, x30			/* const void *caller */
	bl	gmod_dlsym_target
	ldr	x16, [sp, #32]
	mov	x9, x0
	ldp	x0, x1, [sp, #16]
	ldp	x29, x30, [sp], #48
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	cbz	x9, 1f
	mov	x0, x9
	ret
1:	br	x16
	.cfi_endproc
	.size	dlsym, .-dlsym
#else
#error "libgmod's dlsym entry is written for x86-64 and aarch64"
#endif
	.section .note.GNU-stack, "", @progbits
