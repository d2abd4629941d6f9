-- SPDX-License-Identifier: GPL-2.0-only
-- Interrupts that take most time, by host, hour and CPU.
select h.host as host, h.hour as hour, h.cpu as cpu, h.kind as kind, h.name as name,
	count() as handled, sum(h.dur) / 1e6 as ms, sum(h.dur) / any(s.span) as share_of_cpu,
	quantileExact(0.99)(h.dur) / 1e3 as p99_us, max(h.dur) / 1e3 as max_us,
	any(u.lost) as lost, any(u.gap_ms) as gap_ms, any(u.uncertain) as uncertain
from (select host, toStartOfHour(ts_utc) as hour, cpu, kind,
		ifNull(name, toString(irq)) as name, dur from irq_slice
	union all
	select host, toStartOfHour(ts_utc), cpu, 'softirq', ifNull(name, toString(vec)), dur
	from softirq_slice) h
join (select host, toStartOfHour(ts_utc) as hour, greatest(max(ts) - min(ts), 1) as span
	from event group by host, hour) s on s.host = h.host and s.hour = h.hour
left join uncertainty u on u.host = h.host and u.hour = h.hour
group by host, hour, cpu, kind, name
order by share_of_cpu desc
limit 100;
