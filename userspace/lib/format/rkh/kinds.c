// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * RKH trace, the trace of a framework for state machines (rkh.c draws it): the table of its events.
 * Each has its name, the types of its fields, a letter each, and their names.  struct kt_rkh_kind
 * explains the letters: s S f address of data, of the sender, of code; g signal; n N b B numbers of
 * elements and blocks; z e sizes; t timer; 1 2 4 bytes; p pool; Z text; U typed arguments; M bytes.
 * S, N and B are there only if the configuration says so.
 */
#include <stddef.h>

#include "internal.h"

#define KIND(name, types, ...)      \
	{                           \
		name, types,        \
		{                   \
			__VA_ARGS__ \
		}                   \
	}

/* clang-format off */

static const struct kt_rkh_kind kinds[KT_RKH_IDS] = {
	[0x00] = KIND("MP_INIT", "sbz", "mp", "nb", "bs"),
	[0x01] = KIND("MP_GET", "sbB", "mp", "nfree", "nmin"),
	[0x02] = KIND("MP_PUT", "sb", "mp", "nfree"),
	[0x20] = KIND("QUE_INIT", "ssn", "q", "ao", "nelem"),
	[0x21] = KIND("QUE_GET", "sn", "q", "nelem"),
	[0x22] = KIND("QUE_FIFO", "snN", "q", "nelem", "nmin"),
	[0x23] = KIND("QUE_LIFO", "snN", "q", "nelem", "nmin"),
	[0x24] = KIND("QUE_FULL", "s", "q"),
	[0x25] = KIND("QUE_DPT", "s", "q"),
	[0x26] = KIND("QUE_GET_LAST", "s", "q"),
	[0x40] = KIND("SMA_ACT", "s11", "ao", "prio", "size"),
	[0x41] = KIND("SMA_TERM", "s1", "ao", "prio"),
	[0x42] = KIND("SMA_GET", "sg11nN", "ao", "sig", "pid", "rc", "nelem",
		      "nmin"),
	[0x43] = KIND("SMA_FIFO", "sgS11nN", "ao", "sig", "snr", "pid", "rc",
		      "nelem", "nmin"),
	[0x44] = KIND("SMA_LIFO", "sgS11nN", "ao", "sig", "snr", "pid", "rc",
		      "nelem", "nmin"),
	[0x45] = KIND("SMA_REG", "s1", "ao", "prio"),
	[0x46] = KIND("SMA_UNREG", "s1", "ao", "prio"),
	[0x47] = KIND("SMA_DEFER", "sg", "q", "sig"),
	[0x48] = KIND("SMA_RCALL", "sg", "ao", "sig"),
	[0x60] = KIND("SM_INIT", "ss", "ao", "ist"),
	[0x61] = KIND("SM_CLRH", "ss", "ao", "h"),
	[0x62] = KIND("SM_TRN", "sss", "ao", "sst", "tst"),
	[0x63] = KIND("SM_STATE", "ss", "ao", "nxtst"),
	[0x64] = KIND("SM_ENSTATE", "ss", "ao", "st"),
	[0x65] = KIND("SM_EXSTATE", "ss", "ao", "st"),
	[0x66] = KIND("SM_NENEX", "s11", "ao", "nen", "nex"),
	[0x67] = KIND("SM_NTRNACT", "s11", "ao", "nta", "nts"),
	[0x68] = KIND("SM_TS_STATE", "ss", "ao", "st"),
	[0x69] = KIND("SM_EVT_PROC", "s", "ao"),
	[0x6a] = KIND("SM_EVT_NFOUND", "sg", "ao", "sig"),
	[0x6b] = KIND("SM_GRD_FALSE", "s", "ao"),
	[0x6c] = KIND("SM_CND_NFOUND", "s", "ao"),
	[0x6d] = KIND("SM_UNKN_STATE", "s", "ao"),
	[0x6e] = KIND("SM_EX_HLEVEL", "s", "ao"),
	[0x6f] = KIND("SM_EX_TSEG", "s", "ao"),
	[0x70] = KIND("SM_EXE_ACT", "1ssf", "act", "ao", "st", "fn"),
	[0x71] = KIND("SM_DCH", "sgs", "ao", "sig", "st"),
	[0x80] = KIND("TMR_INIT", "sg", "t", "sig"),
	[0x81] = KIND("TMR_START", "sstt", "t", "ao", "nt", "per"),
	[0x82] = KIND("TMR_STOP", "stt", "t", "nt", "per"),
	[0x83] = KIND("TMR_TOUT", "sgs", "t", "sig", "ao"),
	[0x84] = KIND("TMR_REM", "s", "t"),
	[0xa0] = KIND("FWK_EN", "", NULL),
	[0xa1] = KIND("FWK_EX", "", NULL),
	[0xa2] = KIND("FWK_EPREG", "14eb", "ep", "ss", "es", "ps"),
	[0xa3] = KIND("FWK_AE", "egp1bBs", "es", "sig", "pid", "rc", "nb",
		      "nmin", "actor"),
	[0xa4] = KIND("FWK_GC", "g11", "sig", "pid", "rc"),
	[0xa5] = KIND("FWK_GCR", "gp1bBs", "sig", "pid", "rc", "nb", "nmin",
		      "actor"),
	[0xa6] = KIND("FWK_OBJ", "sZ", "obj", "nm"),
	[0xa7] = KIND("FWK_SIG", "gZ", "sig", "nm"),
	[0xa8] = KIND("FWK_FUN", "fZ", "fn", "nm"),
	[0xa9] = KIND("FWK_EXE_FUN", "f", "fn"),
	[0xaa] = KIND("FWK_SYNC_EVT", "fSS", "fn", "snr", "ao"),
	[0xab] = KIND("FWK_TUSR", "1Z", "ut", "nm"),
	[0xac] = KIND("FWK_TCFG", "", NULL), /* the configuration: config.c */
	[0xad] = KIND("FWK_ASSERT", "Z2", "file", "line"),
	[0xae] = KIND("FWK_AO", "sZ", "obj", "nm"),
	[0xaf] = KIND("FWK_STATE", "ssZ", "ao", "obj", "nm"),
	[0xb0] = KIND("FWK_PSTATE", "ssZ", "ao", "obj", "nm"),
	[0xb1] = KIND("FWK_TIMER", "sZ", "obj", "nm"),
	[0xb2] = KIND("FWK_EPOOL", "1Z", "ep", "nm"),
	[0xb3] = KIND("FWK_QUEUE", "sZ", "obj", "nm"),
	[0xb4] = KIND("FWK_ACTOR", "sZ", "obj", "nm"),
	[0xc0 ... 0xdf] = KIND("USR", "U", "args"),
	[0xe0] = KIND("UT_INIT", "M", "data"),
	[0xe1] = KIND("UT_CLEANUP", "M", "data"),
	[0xe2] = KIND("UT_VERIFY", "M", "data"),
	[0xe3] = KIND("UT_IGNORE_GROUP", "M", "data"),
	[0xe4] = KIND("UT_EXPECT", "M", "data"),
	[0xe5] = KIND("UT_EXPECT_ANYARGS", "M", "data"),
	[0xe6] = KIND("UT_IGNORE", "M", "data"),
	[0xe7] = KIND("UT_IGNORE_ARG", "M", "data"),
	[0xe8] = KIND("UT_SUCCESS", "M", "data"),
	[0xe9] = KIND("UT_FAIL", "M", "data"),
};

/* clang-format on */

static const char *const acts[] = {
	"Effect", "Entry", "Exit", "Init", "Prepro", "Guard",
};

static const char *const groups[] = {
	"MP", "QUE", "SMA", "SM", "TMR", "FWK", "USR", "UT",
};

/* Return what events of a TE_ID consist of, or NULL for an unknown one. */
const struct kt_rkh_kind *kt_rkh_kind(unsigned int id)
{
	return id < KT_RKH_IDS && kinds[id].name ? &kinds[id] : NULL;
}

/* Return the word for a value of field act of SM_EXE_ACT, or NULL. */
const char *kt_rkh_act(uint64_t value)
{
	return value < KT_ARRAY_SIZE(acts) ? acts[value] : NULL;
}

/* Return the name of the group of a TE_ID. */
const char *kt_rkh_group(unsigned int id)
{
	return groups[id >> 5 & 7];
}
