package kind_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/kind"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
	"github.com/slipway-dev/slipway/project"
)

func TestCheckNames(t *testing.T) {
	for _, test := range []struct{ group, version, kind, plural, where string }{
		{"batch", "v1", "CronJob", "", ""},
		{"", "v1beta2", "A", "as", ""},
		{"Batch", "v1", "CronJob", "", "--group"},
		{"batch", "1", "CronJob", "", "--version"},
		{"batch", "v1", "cronJob", "", "--kind"},
		{"batch", "v1", "CronJob", "Cron Jobs", "--plural"},
	} {
		err := kind.CheckNames(test.group, test.version, test.kind, test.plural)
		refusal, ok := errors.AsType[*report.Error](err)
		if ok != (test.where != "") || ok && refusal.Where != test.where {
			t.Errorf("%+v: got %v", test, err)
		}
	}
}

func TestExternal(t *testing.T) {
	const path = "example.org/certs/pkg/apis/v1"
	for _, test := range []struct {
		external kind.External
		where    string
	}{
		{kind.External{}, ""},
		{kind.External{Path: path, Domain: "certs.io"}, ""},
		{kind.External{Path: path, Module: "example.org/certs@v1.0.0"}, ""},
		{kind.External{Path: path, Module: "example.org/certs"}, ""},
		{kind.External{Path: "example.org/certs", Module: "example.org/certs"}, ""},
		{kind.External{Domain: "certs.io"}, "--external-api-path"},
		{kind.External{Path: "../certs"}, "--external-api-path ../certs"},
		{kind.External{Path: path, Module: "certs v1"}, "--external-api-module certs v1"},
		{kind.External{Path: path, Module: "example.org/certs@"}, "--external-api-module example.org/certs@"},
		{kind.External{Path: path, Module: "example.org/cert"}, "--external-api-module example.org/cert"},
	} {
		err := test.external.Check()
		refusal, ok := errors.AsType[*report.Error](err)
		if ok != (test.where != "") || ok && refusal.Where != test.where {
			t.Errorf("%+v: got %v, want a refusal of %q", test.external, err, test.where)
		}
	}
}

// TestCoreObject: tests create objects of kinds that need no more than is known here.
func TestCoreObject(t *testing.T) {
	for _, test := range []struct {
		group, version, kind string
		core                 bool
		want                 bool
		template             bool
	}{
		{"core", "v1", "Pod", true, true, false}, // whose types are imported already
		{"apps", "v1", "Deployment", true, true, true},
		{"apps", "v1beta1", "Deployment", true, false, false},
		{"apps", "v1", "Deployment", false, false, false}, // the project's own
		{"rbac", "v1", "Role", true, false, false},
	} {
		got := kind.CoreObjectOf(project.Resource{Group: test.group, Version: test.version, Kind: test.kind, Core: test.core})
		if (got != nil) != test.want || got != nil && got.PodTemplate != test.template {
			t.Errorf("%+v: got %+v", test, got)
		}
	}
}

// TestSchemePieces registers the types of a kind, under the name that the file has for them.
func TestSchemePieces(t *testing.T) {
	file := &project.Project{Repo: "example.com/op"}
	own := project.Resource{Group: "batch", Version: "v1", Kind: "CronJob", Path: "example.com/op/api/v1"}
	core := project.Resource{Group: "apps", Version: "v1", Kind: "Deployment", Core: true, Path: "k8s.io/api/apps/v1"}
	const main = "package main\n\nimport (\n\t\"k8s.io/apimachinery/pkg/runtime\"\n\t// +kubebuilder:scaffold:imports\n)\n\nfunc init() {\n\t// +kubebuilder:scaffold:scheme\n}\n"
	for _, test := range []struct {
		name string
		kind project.Resource
		code string
		src  string
		want string
	}{
		{"the project's own", own, "add(%s.AddToScheme)\n", main, "package main\n\nimport (\n\t\"k8s.io/apimachinery/pkg/runtime\"\n\n\tbatchv1 \"example.com/op/api/v1\"\n\t// +kubebuilder:scaffold:imports\n)\n\nfunc init() {\n\tadd(batchv1.AddToScheme)\n\t// +kubebuilder:scaffold:scheme\n}\n"},
		{"what client-go's scheme knows", core, "add(%s.AddToScheme)\n", main, main},
	} {
		out, err := plan.Pieces(func(src []byte) []plan.Piece {
			return kind.SchemePieces(file, test.kind, gofile.ImportsOf(src), test.code)
		}).Insert("main.go", []byte(test.src))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, string(out)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

// TestStorageVersion: exactly one of several versions is stored, and one alone needs no marker.
func TestStorageVersion(t *testing.T) {
	const plain, marked = "package v1\n\n// Job is one.\ntype Job struct{}\n", "package v1\n\n// Job is one.\n// +kubebuilder:storageversion\ntype Job struct{}\n"
	const unlisted = "// +groupName=batch\npackage v3\n\n// +kubebuilder:storageversion\ntype Job struct {\n\tmetav1.TypeMeta\n\tmetav1.ObjectMeta\n}\n"
	own := func(version string) project.Resource {
		return project.Resource{Group: "batch", Version: version, Kind: "Job", API: &project.API{}}
	}
	mark := func(p *plan.Plan) error { // v2 comes
		return kind.MarkStorageVersion(p, &project.Project{Resources: []project.Resource{own("v1"), own("v2")}}, own("v2"))
	}
	settle := func(stay ...project.Resource) func(p *plan.Plan) error { // v2 went
		return func(p *plan.Plan) error {
			return kind.SettleStorageVersion(p, &project.Project{Resources: stay}, own("v2"))
		}
	}
	for _, test := range []struct {
		name       string
		scaffolded string // v1, in the base
		files      string
		does       func(p *plan.Plan) error
		want       string // v1
	}{
		{"a second version", plain, "", mark, marked},
		{"a second version, of which one is marked", plain, "-- api/v2/job_types.go --\n" + marked, mark, plain},
		{"a second version, of which one that is not listed is marked", plain, "-- apis/v3/job_types.go --\n" + unlisted, mark, plain},
		{"one is left, and one that is not listed", marked, "-- apis/v3/job_types.go --\n" + strings.ReplaceAll(unlisted, "// +kubebuilder:storageversion\n", ""), settle(own("v1")), marked},
		{"one is left, and one that is not listed is marked", plain, "-- apis/v3/job_types.go --\n" + unlisted, settle(own("v1")), plain},
		{"one is left", marked, "", settle(own("v1")), plain},
		{"one is left, which its author has marked", plain, "-- api/v1/job_types.go --\n" + marked, settle(own("v1")), marked},
		{"one is left, and the file of the other stays", marked, "-- api/v2/job_types.go --\n" + plain, settle(own("v1")), marked},
		{"two are left, of which none is marked", plain, "-- api/v3/job_types.go --\n" + plain, settle(own("v1"), own("v3")), marked},
		{"two are left, of which one is marked", plain, "-- api/v3/job_types.go --\n" + marked, settle(own("v1"), own("v3")), plain},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			p, err := plan.New(fileview.Disk(root))
			if err != nil {
				t.Fatal(err)
			}
			projecttest.Apply(t)(p, errors.Join(p.Create("api/v1/job_types.go", []byte(test.scaffolded)), p.Finish()))
			projecttest.Unpack(t, root, test.files)
			if p, err = plan.New(fileview.Disk(root)); err != nil {
				t.Fatal(err)
			}
			projecttest.Apply(t)(p, errors.Join(test.does(p), p.Finish()))
			if diff := cmp.Diff(test.want, projecttest.Read(t, root, "api/v1/job_types.go")); diff != "" {
				t.Error(diff)
			}
		})
	}
}
