/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* clang-format off */
/* Power, CPU hotplug, log, modules: opcodes 144 to 153, 160, 164 to 169.  Included by ktape/events.h. */

KTAPE_EVENT(144, CPU_IDLE, cpu_idle, POWER, "a CPU goes to sleep or wakes up")
	KTAPE_BITS(U32, state, 8, "idle state; 255: it woke up")
	KTAPE_BITS(CPU, cpu, 12, "number of the CPU")
KTAPE_ARGS()
KTAPE_END(CPU_IDLE)

KTAPE_EVENT(145, CPU_IDLE_MISS, cpu_idle_miss, POWER,
	    "an idle state was too deep or not deep enough")
	KTAPE_BITS(U32, state, 7, "the idle state")
	KTAPE_BITS(BOOL, below, 1, "it was not deep enough")
	KTAPE_BITS(CPU, cpu, 12, "number of the CPU")
KTAPE_ARGS()
KTAPE_END(CPU_IDLE_MISS)

KTAPE_EVENT(146, CPU_FREQUENCY, cpu_frequency, POWER,
	    "the frequency of a CPU changes")
	KTAPE_BITS(CPU, cpu, 12, "number of the CPU")
KTAPE_ARGS()
	KTAPE_ARG(U32, khz, "frequency from now on, in kHz")
KTAPE_END(CPU_FREQUENCY)

KTAPE_EVENT(147, SUSPEND_RESUME, suspend_resume, POWER,
	    "a step of going to sleep or waking up")
	KTAPE_BITS(BOOL, start, 1, "the step begins")
KTAPE_ARGS()
	KTAPE_ARG(S32, val, "number of the step")
	KTAPE_BLOB()
	KTAPE_TEXT(action, "name of the step")
KTAPE_END(SUSPEND_RESUME)

KTAPE_EVENT(148, RPM_SUSPEND, rpm_suspend, POWER, "a device is to be suspended")
KTAPE_ARGS()
	KTAPE_ARG(X32, flags, "RPM_*")
	KTAPE_BLOB()
	KTAPE_TEXT(device, "name of the device")
KTAPE_END(RPM_SUSPEND)

KTAPE_EVENT(149, RPM_RESUME, rpm_resume, POWER, "a device is to be resumed")
KTAPE_ARGS()
	KTAPE_ARG(X32, flags, "RPM_*")
	KTAPE_BLOB()
	KTAPE_TEXT(device, "name of the device")
KTAPE_END(RPM_RESUME)

KTAPE_EVENT(150, RPM_IDLE, rpm_idle, POWER, "a device has nothing to do")
KTAPE_ARGS()
	KTAPE_ARG(X32, flags, "RPM_*")
	KTAPE_BLOB()
	KTAPE_TEXT(device, "name of the device")
KTAPE_END(RPM_IDLE)

KTAPE_EVENT(151, RPM_RETURN_INT, rpm_return_int, POWER,
	    "runtime power management is done with a device")
KTAPE_ARGS()
	KTAPE_ARG(S32, ret, "0 or -errno")
	KTAPE_BLOB()
	KTAPE_TEXT(device, "name of the device")
KTAPE_END(RPM_RETURN_INT)

KTAPE_EVENT(152, WAKEUP_SOURCE_ACTIVATE, wakeup_source_activate, POWER,
	    "the system is kept awake")
KTAPE_ARGS()
	KTAPE_ARG(X32, state, "in-progress count << 16 | event count")
	KTAPE_BLOB()
	KTAPE_TEXT(source, "name of the wakeup source")
KTAPE_END(WAKEUP_SOURCE_ACTIVATE)

KTAPE_EVENT(153, WAKEUP_SOURCE_DEACTIVATE, wakeup_source_deactivate, POWER,
	    "the system is no longer kept awake")
KTAPE_ARGS()
	KTAPE_ARG(X32, state, "in-progress count << 16 | event count")
	KTAPE_BLOB()
	KTAPE_TEXT(source, "name of the wakeup source")
KTAPE_END(WAKEUP_SOURCE_DEACTIVATE)

KTAPE_EVENT(168, CPUHP_ENTER, cpuhp_enter, POWER,
	    "a step of taking a CPU up or down begins")
	KTAPE_BITS(CPU, cpu, 12, "number of the CPU")
KTAPE_ARGS()
	KTAPE_ARG(S32, target, "state to be reached")
	KTAPE_ARG(S32, step, "number of the step")
	KTAPE_ARG(FUNC, function, "function that the step calls")
KTAPE_END(CPUHP_ENTER)

KTAPE_EVENT(169, CPUHP_EXIT, cpuhp_exit, POWER,
	    "a step of taking a CPU up or down is done")
	KTAPE_BITS(CPU, cpu, 12, "number of the CPU")
KTAPE_ARGS()
	KTAPE_ARG(S32, state, "state reached")
	KTAPE_ARG(S32, step, "number of the step")
	KTAPE_ARG(S32, ret, "0 or -errno")
KTAPE_END(CPUHP_EXIT)

KTAPE_EVENT(160, CONSOLE, console, CONSOLE, "a line of the kernel log")
	KTAPE_BITS(BOOL, cut, 1, "the line was longer")
KTAPE_ARGS()
	KTAPE_BLOB()
	KTAPE_TEXT(text, "the line")
KTAPE_END(CONSOLE)

KTAPE_EVENT(164, MODULE_LOAD, module_load, MODULE, "a kernel module is loaded")
KTAPE_ARGS()
	KTAPE_ARG(X32, taints, "bits of the taints that it brings")
	KTAPE_BLOB()
	KTAPE_TEXT(name, "name of the module")
KTAPE_END(MODULE_LOAD)

KTAPE_EVENT(165, MODULE_FREE, module_free, MODULE, "a kernel module is removed")
KTAPE_ARGS()
	KTAPE_BLOB()
	KTAPE_TEXT(name, "name of the module")
KTAPE_END(MODULE_FREE)

KTAPE_EVENT(166, MODULE_GET, module_get, MODULE,
	    "a kernel module is in use once more")
KTAPE_ARGS()
	KTAPE_ARG(FUNC, caller, "function that takes the reference")
	KTAPE_ARG(S32, refs, "number of references to the module")
	KTAPE_BLOB()
	KTAPE_TEXT(name, "name of the module")
KTAPE_END(MODULE_GET)

KTAPE_EVENT(167, MODULE_PUT, module_put, MODULE,
	    "a kernel module is in use once less")
KTAPE_ARGS()
	KTAPE_ARG(FUNC, caller, "function that drops the reference")
	KTAPE_ARG(S32, refs, "number of references to the module")
	KTAPE_BLOB()
	KTAPE_TEXT(name, "name of the module")
KTAPE_END(MODULE_PUT)
