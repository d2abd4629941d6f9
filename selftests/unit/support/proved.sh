# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Which mutants have to be tried: sourced by t_mutants and t_mutants_verify; and which tests
# of the tests' own scripts have to run: see skip_if_proved.
#
# A mutant proves that a test notices a defect. That depends on the code with the defect and
# on the test. The file "proved" beside a list has a line "NAME KEY" for each mutant that was
# caught; KEY is a checksum of both. make check-rest tries those whose key is another one, and
# the first of the list; make check-long tries all (KTAPE_MUTANTS=all).
# KTAPE_MUTANTS=prove tries those, too, and puts the keys of all that are caught into the
# file (make -C selftests/unit proved).

# proof_key DEFINITION FILE...: print the checksum of the mutant's line and of files
proof_key()
{
	{
		printf '%s\n' "$1"
		shift
		cat "$@"
	} | sha256sum | cut -c 1-16
}

# is_proved FILE NAME KEY
is_proved()
{
	[ "${KTAPE_MUTANTS:-}" != all ] && grep -qxF "$2 $3" "$1" 2>/dev/null
}

# proved FILE NAME KEY: the mutant was caught
proved()
{
	[ "${KTAPE_MUTANTS:-}" = prove ] || return 0
	{
		flock 9
		{
			grep -v "^$2 " "$1" 2>/dev/null
			echo "$2 $3"
		} | sort >"$1.new"
		mv "$1.new" "$1"
	} 9<"${1%/*}"
}

# skip_if_proved NAME FILE...: end the calling test of the tests' own scripts if it has passed
# with the same text, files, and versions of what scripts depend on. If it passes again, it
# calls record_proof.
skip_if_proved()
{
	proof_name=$1
	proof_list=$(cd "$(dirname "$0")" && pwd)/proved
	proof=$({
		proof_key "$@" "$0" "$(dirname "$0")/../support/proved.sh"
		readlink -f /bin/sh "$(command -v awk)"
		for command in bash env ps setsid tail; do
			"$command" --version 2>&1 | head -n 1
		done
	} | sha256sum | cut -c 1-16)
	is_proved "$proof_list" "$proof_name" "$proof" || return 0
	echo "1..0 # SKIP it has passed with these scripts; make check-long runs it"
	exit 0
}

# record_proof: the test has passed, and has skipped nothing
record_proof()
{
	proved "$proof_list" "$proof_name" "$proof"
}

# proofs_end FILE NAME...: forget mutants that the list does not have any more
proofs_end()
{
	file=$1
	shift
	[ "${KTAPE_MUTANTS:-}" = prove ] || return 0
	for name; do
		grep "^$name " "$file"
	done | sort >"$file.new"
	mv "$file.new" "$file"
}
