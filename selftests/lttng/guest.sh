# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2317	# functions for sessions.sh
# In a guest: record all sessions of LTTng-UST (sessions.sh) below /out. The names of those
# that were recorded are in /out/sessions.
# environment: CONSUMER is LTTng's consumer daemon
traces=/out rounds=${ROUNDS:?}

as_user()
{
	"$@"
}

emit()
{
	fields "$1"
}

# shellcheck source=selftests/lttng/sessions.sh
. /lttng-sessions.sh

export LTTNG_HOME=/tmp HOME=/tmp LTTNG_UST_REGISTER_TIMEOUT=-1
mkdir -p /run /var/run
echo tracing:x:42: >>/etc/group
: >/out/sessions
lttng-sessiond --no-kernel --consumerd64-path="$CONSUMER" >/tmp/sessiond.log 2>&1 &
daemon=$!
until lttng list >/dev/null 2>&1; do
	if ! kill -0 $daemon 2>/dev/null; then
		cat /tmp/sessiond.log
		echo 'lttng-sessiond ended'
		exit 1
	fi
	sleep 0.1
done

status=0
for session in $sessions; do
	if $session >/tmp/log 2>&1; then
		echo "recorded $session"
		echo "$session" >>/out/sessions
	else
		tail -n 5 /tmp/log
		echo "not recorded: $session"
		status=1
	fi
done
kill $daemon
wait $daemon
exit $status
