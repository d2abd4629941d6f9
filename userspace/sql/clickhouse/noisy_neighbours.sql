-- SPDX-License-Identifier: GPL-2.0-only
-- Who ran while others waited on the same CPU: the time that a thread ran, times the
-- number of threads that stood in the queue of its CPU meanwhile.
with points as (
	select host, trace_id, assumeNotNull(cpu) as cpu, ts, 1 as waits,
		cast(null as Nullable(Int64)) as runs
	from thread_state where state in ('R', 'R+') and dur is not null
	union all
	select host, trace_id, assumeNotNull(cpu), ts + assumeNotNull(dur), -1,
		cast(null as Nullable(Int64))
	from thread_state where state in ('R', 'R+') and dur is not null
	union all
	select host, trace_id, cpu, ts, 0, cast(utid as Nullable(Int64)) from sched_slice
	union all	-- after a slice that a loss has cut nobody is known to run
	select host, trace_id, cpu, ts + assumeNotNull(dur), 0,
		cast(-1 as Nullable(Int64))
	from sched_slice where dur is not null and end_state is null),
steps as (
	select host, trace_id, cpu, ts,
		sum(waits) over (partition by host, trace_id, cpu order by ts
			rows between unbounded preceding and current row) as waiting,
		last_value(runs) ignore nulls over (partition by host, trace_id, cpu
			order by ts rows between unbounded preceding and current row)
			as running,
		leadInFrame(ts, 1, ts) over (partition by host, trace_id, cpu
			order by ts rows between current row and 1 following) - ts as ns
	from points),
neighbours as (
	select host, trace_id, running as utid, sum(waiting * ns) as cost_ns,
		sum(ns) as ran_ns
	from steps where waiting > 0 and running > 0 and ns > 0
	group by host, trace_id, utid),
losses as (
	select host, sum(lost) as all_lost, sum(gap_ms) as all_gap_ms,
		if(count() = count(uncertain), sum(lost) / (sum(lost) + sum(stored)), null)
			as share
	from uncertainty group by host)
select n.host as host, t.name as name, t.cgroup as cgroup,
	sum(n.cost_ns) / 1e6 as others_waited_ms, sum(n.ran_ns) / 1e6 as ran_meanwhile_ms,
	any(l.all_lost) as lost, any(l.all_gap_ms) as gap_ms, any(l.share) as uncertain
from neighbours n
join thread t on t.host = n.host and t.trace_id = n.trace_id and t.utid = n.utid
left join losses l on l.host = n.host
group by host, name, cgroup
order by others_waited_ms desc
limit 50;
