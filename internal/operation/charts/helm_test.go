package charts

import (
	"testing"

	"github.com/slipway-dev/slipway/internal/chart"
	"github.com/slipway-dev/slipway/internal/operation/operationtest"
	"github.com/slipway-dev/slipway/internal/report"
)

func TestCompleteCharts(t *testing.T) {
	s, _ := operationtest.Begin(t, t.TempDir())
	operationtest.Write(t, s.Dir, "PROJECT", operationtest.ProjectFile)
	for _, test := range []struct {
		name  string
		given Chart
		want  chart.Options
		in    string // the folder
		where string // of the mistake; empty for none
	}{
		{"defaults", Chart{}, chart.Options{Name: "sample", Version: "0.1.0", AppVersion: "0.1.0"}, "dist/chart", ""},
		{"given", Chart{Folder: "charts/a/", Options: chart.Options{Name: "a", Version: "1.0.0-rc.1", AppVersion: "v2"}}, chart.Options{Name: "a", Version: "1.0.0-rc.1", AppVersion: "v2"}, "charts/a", ""},
		{"outside", Chart{Folder: "../chart"}, chart.Options{}, "", "--chart ../chart"},
		{"the project itself", Chart{Folder: "."}, chart.Options{}, "", "--chart ."},
		{"kustomization around the project", Chart{Config: ".."}, chart.Options{}, "", "--kustomize .."},
		{"kustomization elsewhere", Chart{Config: "config/../../other"}, chart.Options{}, "", "--kustomize ../other"},
		{"kustomization of the project itself", Chart{Config: "."}, chart.Options{Name: "sample", Version: "0.1.0", AppVersion: "0.1.0"}, "dist/chart", ""},
		{"no name", Chart{Options: chart.Options{Name: "My Chart"}}, chart.Options{}, "", "--name"},
		{"no version", Chart{Options: chart.Options{Version: "1"}}, chart.Options{}, "", "--chart-version"},
		{"no version of the operator", Chart{Options: chart.Options{AppVersion: "a\nb"}}, chart.Options{}, "", "--app-version"},
	} {
		c := test.given
		err := completeChart(s, s.Dir, &c)
		switch {
		case test.where != "":
			if told := operationtest.Mistake(t, err); told.Where != test.where || told.ExitCode() != report.UsageCode {
				t.Errorf("%s: %v, want a mistake in %s", test.name, told, test.where)
			}
		case err != nil:
			t.Errorf("%s: %v", test.name, err)
		case c.Options != test.want || c.Folder != test.in:
			t.Errorf("%s: %+v in %s", test.name, c.Options, c.Folder)
		}
	}
	if _, err := parsePreference("theirs"); operationtest.Mistake(t, err).Where != "--conflicts" {
		t.Error(err)
	}
}

// TestConfiguration: taking over a chart reads the configuration of the project, never what is around the project.
func TestConfiguration(t *testing.T) {
	for kustomization, want := range map[string]string{
		"config/default":        "config",
		"config/overlays/cloud": "config/overlays",
		"deploy":                "deploy",
		".":                     ".",
	} {
		if got := configuration(kustomization); got != want {
			t.Errorf("%s: %s; want %s", kustomization, got, want)
		}
	}
}
