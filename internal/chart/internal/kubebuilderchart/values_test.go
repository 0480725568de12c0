package kubebuilderchart_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/chart/internal/settings"
)

const pluginValues = `
-- config/a.yaml --
-- chart/Chart.yaml --
name: op
-- chart/values.yaml --
manager:
  enabled: true
  # strategy:
  #   type: RollingUpdate
  terminationGracePeriodSeconds: 30
  envOverrides: {}
rbac:
  helpers:
    enabled: false
prometheus:
  enabled: false
webhook:
  port: 9443
`

// TestMergeNames: each value of the plug-in's that templates read or the chart sets is named once, with its new name or
// with what to use instead.
func TestMergeNames(t *testing.T) {
	made := &settings.Values{}
	for _, path := range []string{"manager.replicas", "manager.env", "manager.pod.labels", "rbac.helpers.enabled"} {
		made.Set(path, "", nil)
	}
	gone := []string{
		"manager", "manager.enabled", "manager.strategy", "manager.replicas", "manager.pod", "manager.terminationGracePeriodSeconds",
		"prometheus.enabled", "metrics.secure", "rbac.helpers.enabled", "rbac.namespaced", "ours.x",
	}
	notes, err := read(t, pluginValues).Merge(made, []string{"webhook.port", "metrics.secure"}, gone)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"manager.terminationGracePeriodSeconds has no value here and is left out: use config",
		"values with other names: manager.envOverrides is manager.env",
		strings.Join([]string{
			"values without a counterpart, which a release that sets them loses, and what to use instead:",
			"  manager.enabled, manager.pod.annotations, manager.strategy: config",
			"  metrics.secure: config/default/manager_metrics_patch.yaml",
			"  prometheus.enabled: slipway edit --enable prometheus, then slipway helm, which adds prometheus.enabled",
			"  rbac.namespaced: slipway edit --namespaced, then slipway helm",
		}, "\n"),
	}
	if diff := cmp.Diff(want, notes); diff != "" {
		t.Error(diff)
	}
	if on, _ := made.Get("rbac.helpers.enabled"); on != false {
		t.Errorf("roles for users are %v", on)
	}
}
