/*
 * Memory operands of instructions that nvcc 13.0 made for compute capabilities 7.5 to 12.0, with the words that
 * nvdisasm has for them. tests/gpu/sass/judge.py has it judge those of whole libraries.
 */
#include "lib/faults/sass.h"
#include "tests/unit/support.h"

/* clang-format off */
static const struct known {
	unsigned capability;
	uint64_t words[2];
	const char *text;
	bool decoded;
	struct gmod_operand operand;
} known[] = {
    {75, {0x0000000002037381, 0x000ea200001ee900}, "LDG.E.SYS R3, [R2]",
     true, {GMOD_ACCESS_LOAD, GMOD_SPACE_GLOBAL, 4, 2, true, 1, 0}},
    {75, {0x0000000304007386, 0x004fe2000010e900}, "STG.E.SYS [R4], R3",
     true, {GMOD_ACCESS_STORE, GMOD_SPACE_GLOBAL, 4, 4, true, 1, 0}},
    {75, {0x00001404ff007981, 0x000ea4000c1ee900}, "LDG.E.SYS R0, [UR4+0x14]", false, {0}},
    {75, {0x00019000ff007986, 0x000fe2000c10e904}, "STG.E.SYS [UR4+0x190], R0", false, {0}},
    {75, {0x0000040002027381, 0x000ea200001ee900}, "LDG.E.SYS R2, [R2+0x4]",
     true, {GMOD_ACCESS_LOAD, GMOD_SPACE_GLOBAL, 4, 2, true, 1, 4}},
    {75, {0x0000000209007388, 0x004fea0000004800}, "STS [R9.X4], R2",
     true, {GMOD_ACCESS_STORE, GMOD_SPACE_SHARED, 4, 9, false, 4, 0}},
    {75, {0x0000000000077984, 0x000e280000005800}, "LDS.U R7, [R0.X4]",
     true, {GMOD_ACCESS_LOAD, GMOD_SPACE_SHARED, 4, 0, false, 4, 0}},
    {75, {0x0000000002087381, 0x000ea200001eed00}, "LDG.E.128.SYS R8, [R2]",
     true, {GMOD_ACCESS_LOAD, GMOD_SPACE_GLOBAL, 16, 2, true, 1, 0}},
    {75, {0x0000000806007388, 0x004fea000000cc00}, "STS.128 [R6.X16], R8",
     true, {GMOD_ACCESS_STORE, GMOD_SPACE_SHARED, 16, 6, false, 16, 0}},
    {75, {0x00000000000c7984, 0x000e30000000dc00}, "LDS.U.128 R12, [R0.X16]",
     true, {GMOD_ACCESS_LOAD, GMOD_SPACE_SHARED, 16, 0, false, 16, 0}},
    {75, {0x0000000c04007386, 0x001fe2000010ed00}, "STG.E.128.SYS [R4], R12",
     true, {GMOD_ACCESS_STORE, GMOD_SPACE_GLOBAL, 16, 4, true, 1, 0}},
    {75, {0x0000000004047980, 0x000ea2000010e900}, "LD.E.SYS R4, [R4]",
     true, {GMOD_ACCESS_LOAD, GMOD_SPACE_GENERIC, 4, 4, true, 1, 0}},
    {75, {0x0000000006007385, 0x000fe8000010e909}, "ST.E.SYS [R6], R9",
     true, {GMOD_ACCESS_STORE, GMOD_SPACE_GENERIC, 4, 6, true, 1, 0}},
    {75, {0x00000c0b02ff038a, 0x002fe200001f41ff}, "ATOM.E.ADD.STRONG.GPU PT, RZ, [R2+0xc], R11",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GENERIC, 4, 2, true, 1, 12}},
    {75, {0x00000004ff007981, 0x000ea8000c1ee900}, "LDG.E.SYS R0, [UR4]", false, {0}},
    {75, {0x0000000d060d038c, 0x000e6400000000ff}, "ATOMS.ADD R13, [R6], R13",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_SHARED, 4, 6, false, 1, 0}},
    {75, {0x000400040b007388, 0x001fe80000000a00}, "STS.64 [R11+0x400], R4",
     true, {GMOD_ACCESS_STORE, GMOD_SPACE_SHARED, 8, 11, false, 1, 1024}},
    {75, {0x0000000e0cff738d, 0x000fe8000000400f}, "ATOMS.CAS RZ, [R12.X4], R14, R15",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_SHARED, 4, 12, false, 4, 0}},
    {75, {0x0004000000067984, 0x000e240000001a00}, "LDS.U.64 R6, [R0+0x400]",
     true, {GMOD_ACCESS_LOAD, GMOD_SPACE_SHARED, 8, 0, false, 1, 1024}},
    {75, {0x000000ffffff798a, 0x000ea20008114944}, "ATOM.E.ADD.F16x2.RN.STRONG.GPU P0, RZ, [UR4], RZ", false, {0}},
    {75, {0x0000000000027984, 0x000e240000001800}, "LDS.U R2, [R0]",
     true, {GMOD_ACCESS_LOAD, GMOD_SPACE_SHARED, 4, 0, false, 1, 0}},
    {75, {0x000000020003738d, 0x000e240001800003}, "ATOMS.CAST.SPIN R3, [R0], R2, R3",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_SHARED, 4, 0, false, 1, 0}},
    {75, {0x00000004ff007980, 0x000ea8000c10e900}, "LD.E.SYS R0, [UR4]", false, {0}},
    {75, {0x00000000ff007985, 0x0041e4000c10e904}, "ST.E.SYS [UR4], R0", false, {0}},
    {75, {0x000000050204738b, 0x000e6400001f4104}, "ATOM.E.CAS.STRONG.GPU PT, R4, [R2], R5, R4",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GENERIC, 4, 2, true, 1, 0}},
    {75, {0x000000110200098e, 0x0021e80000114100}, "RED.E.ADD.STRONG.GPU [R2], R17",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GLOBAL, 4, 2, true, 1, 0}},
    {75, {0x00000c13040473a8, 0x000ea200001f47ff}, "ATOMG.E.ADD.F32.FTZ.RN.STRONG.GPU PT, R4, [R4+0xc], R19",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GLOBAL, 4, 4, true, 1, 12}},
    {75, {0x0000000608007386, 0x0011e8000010eb00}, "STG.E.64.SYS [R8], R6",
     true, {GMOD_ACCESS_STORE, GMOD_SPACE_GLOBAL, 8, 8, true, 1, 0}},
    {75, {0x0000000c0aff73a9, 0x00016800001f450e}, "ATOMG.E.CAS.64.STRONG.GPU PT, RZ, [R10], R12, R14",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GLOBAL, 8, 10, true, 1, 0}},
    {75, {0x00000010ff0479a8, 0x000ea2000c1f4544}, "ATOMG.E.EXCH.64.STRONG.GPU PT, R4, [UR4], R16", false, {0}},
    {75, {0x00000017ff00898e, 0x0001e2000d114304}, "RED.E.MAX.S32.STRONG.GPU [UR4], R23", false, {0}},
    {75, {0x000000120800798e, 0x000fe80000114d00}, "RED.E.ADD.F64.RN.STRONG.GPU [R8], R18",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GLOBAL, 8, 8, true, 1, 0}},
    {75, {0x00002017020273a8, 0x000ea200029f41ff}, "ATOMG.E.AND.STRONG.GPU PT, R2, [R2+0x20], R23",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GLOBAL, 4, 2, true, 1, 32}},
    {75, {0x00009004ff047981, 0x000ea2000c1eed00}, "LDG.E.128.SYS R4, [UR4+0x90]", false, {0}},
    {75, {0x00000004ff007986, 0x004fe2000c10ed04}, "STG.E.128.SYS [UR4], R4", false, {0}},
    {75, {0x00004804ff027981, 0x000ea2000c1eeb00}, "LDG.E.64.SYS R2, [UR4+0x48]", false, {0}},
    {75, {0x00000002ff007986, 0x001fe2000c10eb04}, "STG.E.64.SYS [UR4], R2", false, {0}},
    {75, {0x00000e04ff007981, 0x000ea8000c1ee700}, "LDG.E.S16.SYS R0, [UR4+0xe]", false, {0}},
    {75, {0x00000006ff037981, 0x000ea8000c1ee500}, "LDG.E.U16.SYS R3, [UR6]", false, {0}},
    {75, {0x00000002ff007986, 0x008fe2000c10e504}, "STG.E.U16.SYS [UR4], R2", false, {0}},
    {75, {0x0000050402027981, 0x000ea2000c1ee300}, "LDG.E.S8.SYS R2, [R2.64+UR4+0x5]", false, {0}},
    {75, {0x0000000602027981, 0x000ea2000c1ee100}, "LDG.E.U8.SYS R2, [R2.64+UR6]", false, {0}},
    {75, {0x0000000704007986, 0x000fe2000c10e104}, "STG.E.U8.SYS [R4.64+UR4], R7", false, {0}},
    {80, {0x0000000402037981, 0x000ea2000c1e1900}, "LDG.E R3, [R2.64]",
     true, {GMOD_ACCESS_LOAD, GMOD_SPACE_GLOBAL, 4, 2, true, 1, 0}},
    {80, {0x0000000304007986, 0x004fe2000c101904}, "STG.E [R4.64], R3",
     true, {GMOD_ACCESS_STORE, GMOD_SPACE_GLOBAL, 4, 4, true, 1, 0}},
    {80, {0x0000140402007981, 0x000ea4000c1e1900}, "LDG.E R0, [R2.64+0x14]",
     true, {GMOD_ACCESS_LOAD, GMOD_SPACE_GLOBAL, 4, 2, true, 1, 20}},
    {80, {0x0000000000097984, 0x000e680000004800}, "LDS R9, [R0.X4]",
     true, {GMOD_ACCESS_LOAD, GMOD_SPACE_SHARED, 4, 0, false, 4, 0}},
    {80, {0x0000000000087984, 0x000e68000000cc00}, "LDS.128 R8, [R0.X16]",
     true, {GMOD_ACCESS_LOAD, GMOD_SPACE_SHARED, 16, 0, false, 16, 0}},
    {80, {0x0000000804007986, 0x002fe2000c101d04}, "STG.E.128 [R4.64], R8",
     true, {GMOD_ACCESS_STORE, GMOD_SPACE_GLOBAL, 16, 4, true, 1, 0}},
    {80, {0x0000000404047980, 0x000ea2000c101900}, "LD.E R4, [R4.64]",
     true, {GMOD_ACCESS_LOAD, GMOD_SPACE_GENERIC, 4, 4, true, 1, 0}},
    {80, {0x0000000906007985, 0x000fec000c101904}, "ST.E [R6.64], R9",
     true, {GMOD_ACCESS_STORE, GMOD_SPACE_GENERIC, 4, 6, true, 1, 0}},
    {80, {0x00000c0b02ff098a, 0x002fe200081ee1c4}, "ATOM.E.ADD.STRONG.GPU PT, RZ, [R2.64+0xc], R11",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GENERIC, 4, 2, true, 1, 12}},
    {80, {0x0000000007007388, 0x0043e80000004800}, "STS [R7.X4], R0",
     true, {GMOD_ACCESS_STORE, GMOD_SPACE_SHARED, 4, 7, false, 4, 0}},
    {80, {0x0000000d060d038c, 0x000e680000000000}, "ATOMS.ADD R13, [R6], R13",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_SHARED, 4, 6, false, 1, 0}},
    {80, {0x000400040b007388, 0x001fe80000000a00}, "STS.64 [R11+0x400], R4",
     true, {GMOD_ACCESS_STORE, GMOD_SPACE_SHARED, 8, 11, false, 1, 1024}},
    {80, {0x0000000e0cff738d, 0x000fe8000000400f}, "ATOMS.CAS RZ, [R12.X4], R14, R15",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_SHARED, 4, 12, false, 4, 0}},
    {80, {0x0004000007067984, 0x000e240000000a00}, "LDS.64 R6, [R7+0x400]",
     true, {GMOD_ACCESS_LOAD, GMOD_SPACE_SHARED, 8, 7, false, 1, 1024}},
    {80, {0x000000ff02ff798a, 0x000ea2000810e9c4}, "ATOM.E.ADD.F16x2.RN.STRONG.GPU P0, RZ, [R2.64], RZ",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GENERIC, 4, 2, true, 1, 0}},
    {80, {0x0000000000027984, 0x000e240000000800}, "LDS R2, [R0]",
     true, {GMOD_ACCESS_LOAD, GMOD_SPACE_SHARED, 4, 0, false, 1, 0}},
    {80, {0x000000020003738d, 0x000e240001800003}, "ATOMS.CAST.SPIN R3, [R0], R2, R3",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_SHARED, 4, 0, false, 1, 0}},
    {80, {0x000000050204738b, 0x000e6400001ee104}, "ATOM.E.CAS.STRONG.GPU PT, R4, [R2], R5, R4",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GENERIC, 4, 2, true, 1, 0}},
    {80, {0x000000130200098e, 0x0021e8000c10e186}, "RED.E.ADD.STRONG.GPU [R2.64], R19",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GLOBAL, 4, 2, true, 1, 0}},
    {80, {0x00000c150a0c79a8, 0x0002a200081ee7c6}, "ATOMG.E.ADD.F32.FTZ.RN.STRONG.GPU PT, R12, [R10.64+0xc], R21",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GLOBAL, 4, 10, true, 1, 12}},
    {80, {0x0000000c0e007986, 0x004fe8000c101b06}, "STG.E.64 [R14.64], R12",
     true, {GMOD_ACCESS_STORE, GMOD_SPACE_GLOBAL, 8, 14, true, 1, 0}},
    {80, {0x000000040aff73a9, 0x0005e800001ee506}, "ATOMG.E.CAS.64.STRONG.GPU PT, RZ, [R10], R4, R6",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GLOBAL, 8, 10, true, 1, 0}},
    {80, {0x00000014101079a8, 0x000ee2000c1ee5c6}, "ATOMG.E.EXCH.64.STRONG.GPU PT, R16, [R16.64], R20",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GLOBAL, 8, 16, true, 1, 0}},
    {80, {0x000000191200098e, 0x000fe8000d10e386}, "RED.E.MAX.S32.STRONG.GPU [R18.64], R25",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GLOBAL, 4, 18, true, 1, 0}},
    {80, {0x000000160e00798e, 0x000fe8000c10ed86}, "RED.E.ADD.F64.RN.STRONG.GPU [R14.64], R22",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GLOBAL, 8, 14, true, 1, 0}},
    {80, {0x00002009020379a8, 0x000ee2000a9ee1c6}, "ATOMG.E.AND.STRONG.GPU PT, R3, [R2.64+0x20], R9",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GLOBAL, 4, 2, true, 1, 32}},
    {80, {0x0000900404047981, 0x000ea2000c1e1d00}, "LDG.E.128 R4, [R4.64+0x90]",
     true, {GMOD_ACCESS_LOAD, GMOD_SPACE_GLOBAL, 16, 4, true, 1, 144}},
    {80, {0x0000480402027981, 0x000ea2000c1e1b00}, "LDG.E.64 R2, [R2.64+0x48]",
     true, {GMOD_ACCESS_LOAD, GMOD_SPACE_GLOBAL, 8, 2, true, 1, 72}},
    {80, {0x00000e0402007981, 0x000ea6000c1e1700}, "LDG.E.S16 R0, [R2.64+0xe]",
     true, {GMOD_ACCESS_LOAD, GMOD_SPACE_GLOBAL, 2, 2, true, 1, 14}},
    {80, {0x0000000404057981, 0x000ea8000c1e1500}, "LDG.E.U16 R5, [R4.64]",
     true, {GMOD_ACCESS_LOAD, GMOD_SPACE_GLOBAL, 2, 4, true, 1, 0}},
    {80, {0x0000000b02007986, 0x008fe2000c101504}, "STG.E.U16 [R2.64], R11",
     true, {GMOD_ACCESS_STORE, GMOD_SPACE_GLOBAL, 2, 2, true, 1, 0}},
    {80, {0x0000050404057981, 0x000ea2000c1e1300}, "LDG.E.S8 R5, [R4.64+0x5]",
     true, {GMOD_ACCESS_LOAD, GMOD_SPACE_GLOBAL, 1, 4, true, 1, 5}},
    {80, {0x0000000802027981, 0x000ea2000c1e1100}, "LDG.E.U8 R2, [R2.64]",
     true, {GMOD_ACCESS_LOAD, GMOD_SPACE_GLOBAL, 1, 2, true, 1, 0}},
    {80, {0x0000000704007986, 0x000fe2000c101108}, "STG.E.U8 [R4.64], R7",
     true, {GMOD_ACCESS_STORE, GMOD_SPACE_GLOBAL, 1, 4, true, 1, 0}},
    {90, {0x0000000000087984, 0x000e680000000c00}, "LDS.128 R8, [R0]",
     true, {GMOD_ACCESS_LOAD, GMOD_SPACE_SHARED, 16, 0, false, 1, 0}},
    {90, {0x0000000407007388, 0x004fe20000000800}, "STS [R7], R4",
     true, {GMOD_ACCESS_STORE, GMOD_SPACE_SHARED, 4, 7, false, 1, 0}},
    {90, {0x0000000007067984, 0x000e240000000a00}, "LDS.64 R6, [R7]",
     true, {GMOD_ACCESS_LOAD, GMOD_SPACE_SHARED, 8, 7, false, 1, 0}},
    {90, {0x000000ff02ff79a2, 0x0011e2000810e1c4}, "ATOM.E.ADD.F16x2.RN.STRONG.GPU P0, RZ, desc[UR4][R2.64], RZ",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GENERIC, 4, 2, true, 1, 0}},
    {90, {0x0000000f0200098e, 0x0043e8000c10e186}, "REDG.E.ADD.STRONG.GPU desc[UR6][R2.64], R15",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GLOBAL, 4, 2, true, 1, 0}},
    {90, {0x00000c130a0c79a3, 0x0000a200081ef3c6}, "ATOMG.E.ADD.F32.FTZ.RN.STRONG.GPU PT, R12, desc[UR6][R10.64+0xc], R19",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GLOBAL, 4, 10, true, 1, 12}},
    {90, {0x000000151000098e, 0x000fe8000d10e386}, "REDG.E.MAX.S32.STRONG.GPU desc[UR6][R16.64], R21",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GLOBAL, 4, 16, true, 1, 0}},
    {90, {0x0000000c080079a6, 0x000fe8000c10ff86}, "REDG.E.ADD.F64.RN.STRONG.GPU desc[UR6][R8.64], R12",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GLOBAL, 8, 8, true, 1, 0}},
    {100, {0x0000fc0000097984, 0x000e680000000800}, "LDS R9, [R0+0xfc]",
     true, {GMOD_ACCESS_LOAD, GMOD_SPACE_SHARED, 4, 0, false, 1, 252}},
    {100, {0x0003f00000087984, 0x000e680000000c00}, "LDS.128 R8, [R0+0x3f0]",
     true, {GMOD_ACCESS_LOAD, GMOD_SPACE_SHARED, 16, 0, false, 1, 1008}},
    {100, {0x80000c0b02ff098a, 0x002fe200081ef104}, "ATOM.E.ADD.STRONG.GPU PT, RZ, desc[UR4][R2.64+0xc], R11",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GENERIC, 4, 2, true, 1, 12}},
    {100, {0x0000000b000b038c, 0x000e680000000000}, "ATOMS.ADD R11, [R0], R11",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_SHARED, 4, 0, false, 1, 0}},
    {100, {0x0000000e00ff738d, 0x000fe8000000000f}, "ATOMS.CAS RZ, [R0], R14, R15",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_SHARED, 4, 0, false, 1, 0}},
    {100, {0x800000ff02ff79a2, 0x0011e2000c10e104}, "ATOM.E.ADD.F16x2.RN.STRONG.GPU P0, RZ, desc[UR4][R2.64], RZ",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GENERIC, 4, 2, true, 1, 0}},
    {100, {0x000000040200758d, 0x000e240001800005}, "ATOMS.CAST.SPIN P0, [R2], R4, R5",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_SHARED, 4, 2, false, 1, 0}},
    {100, {0x000000050204738b, 0x000ea400001ee107}, "ATOM.E.CAS.STRONG.GPU PT, R4, [R2], R5, R7",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GENERIC, 4, 2, true, 1, 0}},
    {100, {0x80000c130a0c79a3, 0x0000a2000c1ef306}, "ATOMG.E.ADD.F32.FTZ.RN.STRONG.GPU PT, R12, desc[UR6][R10.64+0xc], R19",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GLOBAL, 4, 10, true, 1, 12}},
    {100, {0x000000040aff73a9, 0x0001e800001ee506}, "ATOMG.E.CAS.64.STRONG.GPU PT, RZ, [R10], R4, R6",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GLOBAL, 8, 10, true, 1, 0}},
    {100, {0x800000120e0e79a8, 0x000ea2000c1ef506}, "ATOMG.E.EXCH.64.STRONG.GPU PT, R14, desc[UR6][R14.64], R18",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GLOBAL, 8, 14, true, 1, 0}},
    {100, {0x80002019020379a8, 0x002e28000a9ef106}, "ATOMG.E.AND.STRONG.GPU PT, R3, desc[UR6][R2.64+0x20], R25",
     true, {GMOD_ACCESS_ATOMIC, GMOD_SPACE_GLOBAL, 4, 2, true, 1, 32}},
    {120, {0x0000000aff027984, 0x000fe80008000800}, "LDS R2, [UR10]", false, {0}},
    {120, {0x00000004ff07098c, 0x0002a4000800000a}, "ATOMS.ADD R7, [UR10], R4", false, {0}},
    {120, {0x000000020f007988, 0x001fe20008000a07}, "STS.64 [R15+UR7], R2", false, {0}},
    {120, {0x0000000604047984, 0x000e1e0008000a00}, "LDS.64 R4, [R4+UR6]", false, {0}},
    /* What accesses no memory, or several places. */
    {90, {0x00000a00ff017b82, 0x000fe20000000800}, "LDC R1, c[0x0][0x28]", false, {0}},
    {90, {0x0000000402077fae, 0x008fe8000b9a1004}, "LDGSTS.E [R7], desc[UR4][R2.64+0x4]", false, {0}},
    {90, {0xff00000000007918, 0x000fc00000000000}, "NOP", false, {0}},
    {90, {0x0000000000007992, 0x000fec0000002000}, "MEMBAR.SC.GPU", false, {0}},
    /* What came later may mean something else. */
    {130, {0x0000000402037981, 0x000ea2000c1e1900}, "LDG.E R3, desc[UR4][R2.64]", false, {0}},
    {70, {0x0000000002037381, 0x000ea200001ee900}, "LDG.E.SYS R3, [R2]", false, {0}},
};
/* clang-format on */

TEST(operands_are_as_the_disassembler_has_them)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const struct known *k = &known[i];
		struct gmod_operand o = {0}, want = k->operand;

		CHECK(gmod_sass_operand(k->words, k->capability, &o) == k->decoded, "%s for %u", k->text,
		      k->capability);
		if (k->decoded)
			CHECK(o.access == want.access && o.space == want.space && o.bytes == want.bytes &&
				  o.base == want.base && o.wide == want.wide && o.scale == want.scale &&
				  o.offset == want.offset,
			      "%s for %u: %u bytes at R%u, %d, x%u%+d", k->text, k->capability, o.bytes, o.base, o.wide,
			      o.scale, o.offset);
	}
}

/* Whatever lies there: of what is decoded the numbers are such as there are. */
TEST(any_words_are_decoded_to_something_sane)
{
	uint64_t words[2] = {1, 1};

	for (int i = 0; i < 4000000; i++) {
		struct gmod_operand o;

		words[0] = words[0] * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		words[1] = (words[1] ^ words[0] >> 17) * UINT64_C(0x9e3779b97f4a7c15);
		if (gmod_sass_operand(words, 75 + (unsigned)(words[1] >> 60) * 3, &o))
			assert_true(o.bytes >= 1 && o.bytes <= 16 && !(o.bytes & (o.bytes - 1)) && o.base <= 255 &&
				    o.access <= GMOD_ACCESS_ATOMIC && o.space <= GMOD_SPACE_LOCAL && o.scale <= 16);
	}
}
