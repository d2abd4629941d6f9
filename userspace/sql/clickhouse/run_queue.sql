-- SPDX-License-Identifier: GPL-2.0-only
-- How long threads wait for a CPU: the 99th percentile by control group, host and hour.
select t.cgroup as cgroup, s.host as host, s.hour as hour, count() as waits,
	quantileExact(0.5)(s.dur) / 1e3 as p50_us,
	quantileExact(0.99)(s.dur) / 1e3 as p99_us, max(s.dur) / 1e3 as max_us,
	any(u.lost) as lost, any(u.gap_ms) as gap_ms, any(u.uncertain) as uncertain
from (select host, trace_id, utid, toStartOfHour(ts_utc) as hour,
		assumeNotNull(dur) as dur
	from thread_state where state in ('R', 'R+') and dur is not null) s
join thread t on t.host = s.host and t.trace_id = s.trace_id and t.utid = s.utid
left join uncertainty u on u.host = s.host and u.hour = s.hour
group by cgroup, host, hour
order by p99_us desc;
