/* lib/buffers/patrol.ptx as text of the library's: gmod_patrol_ptx, with a zero behind it. */
	.section .rodata
	.globl gmod_patrol_ptx
	.hidden gmod_patrol_ptx
	.type gmod_patrol_ptx, @object
gmod_patrol_ptx:
	.incbin "lib/buffers/patrol.ptx"
	.byte 0
	.size gmod_patrol_ptx, . - gmod_patrol_ptx
	.section .note.GNU-stack, "", @progbits
