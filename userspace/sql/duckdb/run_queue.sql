-- SPDX-License-Identifier: GPL-2.0-only
-- How long threads wait for a CPU: the 99th percentile by control group, host and hour.
select t.cgroup, s.host, hour_of(s.ts_utc) as hour, count(*) as waits,
	quantile_cont(s.dur, 0.5) / 1e3 as p50_us,
	quantile_cont(s.dur, 0.99) / 1e3 as p99_us, max(s.dur) / 1e3 as max_us,
	any_value(u.lost) as lost, any_value(u.gap_ms) as gap_ms,
	any_value(u.uncertain) as uncertain
from thread_state s
join thread t using (host, trace_id, utid)
left join uncertainty u
	on u.host = s.host and u.hour = hour_of(s.ts_utc)
where s.state in ('R', 'R+') and s.dur is not null
group by all
order by p99_us desc;
