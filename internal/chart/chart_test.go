package chart_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/slipway-dev/slipway/internal/chart"
	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// everything is the folder with the deployment of a project with all features; keeper keeps its certificate.
func everything(t *testing.T, keeper features.Name) string {
	t.Helper()
	root := t.TempDir()
	apply := func(plan *scaffold.Plan, err error) {
		t.Helper()
		if err == nil {
			err = plan.Apply(report.Discard)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	apply(scaffold.Init(fileview.Disk(root), scaffold.Project{Name: "op", Domain: "example.com", Repo: "example.com/op"}))
	for _, version := range []string{"v1", "v2"} {
		apply(scaffold.CreateAPI(fileview.Disk(root), scaffold.API{Group: "ship", Version: version, Kind: "Frigate", Resource: true, Controller: version == "v1", Namespaced: true}))
	}
	apply(scaffold.CreateWebhook(fileview.Disk(root), scaffold.Webhook{Group: "ship", Version: "v1", Kind: "Frigate", Defaulting: true, Validation: true, Conversion: true}))
	for _, f := range features.Names() {
		if features.Of(f).Deployed() && (f != features.CertManager && f != features.SelfCert || f == keeper) {
			apply(scaffold.EditProject(fileview.Disk(root), scaffold.Enable(f)))
		}
	}
	options, err := generate.Parse([]string{"crd:maxDescLen=0", "rbac:roleName=manager-role", "webhook", "paths=./...", "output:crd:artifacts:config=config/crd/bases"})
	if err != nil {
		t.Fatal(err)
	}
	options.Dir = root
	if result, err := generate.Run(t.Context(), options); err != nil || result.Failed() {
		t.Fatal(err, result.Findings)
	}
	return filepath.Join(root, "config", "default")
}

// TestGolden: the charts of projects with everything on are as they were, and made twice they are the same.
func TestGolden(t *testing.T) {
	for _, keeper := range []features.Name{features.CertManager, features.SelfCert} {
		t.Run(string(keeper), func(t *testing.T) {
			dir := everything(t, keeper)
			got := generated(t, dir)
			if again := generated(t, dir); string(again) != string(got) {
				t.Error("made again, it is another chart")
			}
			name := filepath.Join("testdata", "golden", string(keeper)+".txtar")
			if *update {
				if err := os.WriteFile(name, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("the chart is another one (-want +got):\n%s", diff)
			}
		})
	}
}

// generated is a chart as an archive.
func generated(t *testing.T, dir string) []byte {
	t.Helper()
	made, err := chart.Generate(t.Context(), chart.Source{Folder: dir}, chart.Options{Name: "op", Version: "0.1.0", AppVersion: "v1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	if len(made.Warnings) > 0 || made.Namespace != "op-system" {
		t.Errorf("namespace %s, warnings %q", made.Namespace, made.Warnings)
	}
	archive := &txtar.Archive{}
	for _, f := range made.Files {
		archive.Files = append(archive.Files, txtar.File{Name: f.Path, Data: f.Content})
	}
	return txtar.Format(archive)
}

// TestReadOptions: a chart's own file tells what it was made with.
func TestReadOptions(t *testing.T) {
	want := chart.Options{Name: "op", Version: "1.0.0-rc.1+b", AppVersion: "v1"}
	made, err := chart.Generate(t.Context(), chart.Source{Folder: everything(t, features.SelfCert)}, want)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range made.Files {
		if got := chart.ReadOptions(f.Content); f.Path == chart.Mark && got != want {
			t.Errorf("got %+v", got)
		}
	}
	if got := chart.ReadOptions([]byte("{")); got != (chart.Options{}) {
		t.Errorf("a damaged file tells of %+v", got)
	}
}
