// SPDX-License-Identifier: GPL-2.0-only
/*
 * Emit a chosen event many times, for the benchmark.
 *
 * echo "FORM NUMBER" >/sys/module/kt_bench/parameters/run
 *
 * For bench/bench_costs.c.
 */
#include <linux/module.h>
#include <ktape/kernel.h>

#define LOOP(n, call)      \
	for (; n; n--) {   \
		call;      \
		barrier(); \
	}

static void emit_nothing(unsigned int n)
{
	LOOP(n, (void)0);
}

static void emit_mark(unsigned int n)
{
	LOOP(n, ktape_mark(1, NULL));
}

static void emit_text_mark(unsigned int n)
{
	LOOP(n, ktape_mark(1, "sixteen letters."));
}

static void emit_value(unsigned int n)
{
	LOOP(n, ktape_value(2, n, NULL));
}

static void emit_exception(unsigned int n)
{
	LOOP(n, Trace3(_TRACE_SW_SEVERITY0, KTAPE_EXC_CODE(0x1234, 1), 1, 2, 3));
}

static void emit_user_event(unsigned int n)
{
	static const u32 args[2] = { 1, 2 };

	LOOP(n, ktape_user_event(1025, args, 2, NULL, 0));
}

static const struct {
	const char *name;
	void (*emit)(unsigned int n);
} forms[] = {
	{ "nothing", emit_nothing },	 { "mark", emit_mark },
	{ "text", emit_text_mark },	 { "value", emit_value },
	{ "exception", emit_exception }, { "user", emit_user_event },
};

static int run_form(const char *text, const struct kernel_param *param)
{
	unsigned int n, i;
	char what[16];

	if (sscanf(text, "%15s %u", what, &n) != 2)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(forms); i++)
		if (!strcmp(what, forms[i].name)) {
			forms[i].emit(n);
			return 0;
		}
	return -EINVAL;
}

static const struct kernel_param_ops run_ops = { .set = run_form };

module_param_cb(run, &run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "what to emit, and how often");

static int __init kt_bench_init(void)
{
	return 0;
}
module_init(kt_bench_init);

static void __exit kt_bench_exit(void)
{
}
module_exit(kt_bench_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("emits for the bench of ktape");
