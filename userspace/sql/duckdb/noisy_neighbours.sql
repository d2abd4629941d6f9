-- SPDX-License-Identifier: GPL-2.0-only
-- Who ran while others waited on the same CPU: the time that a thread ran, times the
-- number of threads that stood in the queue of its CPU meanwhile.
with points as (
	select host, trace_id, cpu, ts, 1 as waits, null as runs
	from thread_state where state in ('R', 'R+') and dur is not null
	union all
	select host, trace_id, cpu, ts + dur, -1, null
	from thread_state where state in ('R', 'R+') and dur is not null
	union all
	select host, trace_id, cpu, ts, 0, utid from sched_slice
	union all	-- after a slice that a loss has cut nobody is known to run
	select host, trace_id, cpu, ts + dur, 0, -1
	from sched_slice where dur is not null and end_state is null),
steps as (
	select host, trace_id, cpu, ts,
		sum(waits) over sofar as waiting,
		last_value(runs ignore nulls) over sofar as utid,
		lead(ts) over (partition by host, trace_id, cpu order by ts)
			- ts as ns
	from points
	window sofar as (partition by host, trace_id, cpu order by ts
		rows between unbounded preceding and current row)),
neighbours as (
	select host, trace_id, utid, sum(waiting * ns) as cost_ns,
		sum(ns) as ran_ns
	from steps where waiting > 0 and utid > 0 and ns > 0 group by all),
losses as (
	select host, sum(lost) as lost, sum(gap_ms) as gap_ms,
		case when count(*) = count(uncertain)
		then sum(lost) / (sum(lost) + sum(stored)) end as uncertain
	from uncertainty group by host)
select n.host, t.name, t.cgroup, sum(n.cost_ns) / 1e6 as others_waited_ms,
	sum(n.ran_ns) / 1e6 as ran_meanwhile_ms, any_value(l.lost) as lost,
	any_value(l.gap_ms) as gap_ms, any_value(l.uncertain) as uncertain
from neighbours n
join thread t using (host, trace_id, utid)
left join losses l on l.host = n.host
group by n.host, t.name, t.cgroup
order by others_waited_ms desc
limit 50;
