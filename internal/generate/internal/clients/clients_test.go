package clients

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/modfile"
	"golang.org/x/tools/txtar"

	"github.com/slipway-dev/slipway/internal/codegen"
	"github.com/slipway-dev/slipway/internal/codegen/wire"
	"github.com/slipway-dev/slipway/internal/generate/internal/generator"
	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	"github.com/slipway-dev/slipway/internal/report"
)

const (
	// v1 is a package with all that clients need.
	v1      = "-- api/batch/v1/types.go --\n" + doc + "package v1\n\n" + imports + "var GroupVersion = schema.GroupVersion{}\n\nvar AddToScheme = 1\n\n" + jobType
	doc     = "// +kubebuilder:ac:generate=true\n// +groupName=batch.example.com\n"
	jobType = "// +genclient\n// +kubebuilder:object:root=true\n// +kubebuilder:resource\ntype Job struct {\n\tmetav1.TypeMeta\n\tmetav1.ObjectMeta\n\tSize int `json:\"size\"`\n}\n\ntype JobList struct{}\n"

	imports = "import (\n\tmetav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n\t\"k8s.io/apimachinery/pkg/runtime/schema\"\n)\n\n"
)

// unpack writes files below a folder.
func unpack(t *testing.T, dir, archive string) {
	t.Helper()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// newModule is a folder with a module that requires apimachinery as this one does, and these files.
func newModule(t *testing.T, archive string) (dir string) {
	t.Helper()
	const mod = "../../../../go.mod"
	text, err := os.ReadFile(mod)
	if err != nil {
		t.Fatal(err)
	}
	file, err := modfile.Parse(mod, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	goMod := "-- go.mod --\nmodule example.com/op\n\ngo 1.24\n\n"
	for _, path := range []string{"k8s.io/apimachinery", "k8s.io/klog/v2", "github.com/go-logr/logr"} { // types of the first need all
		goMod += "require " + path + " " + required(file, path) + "\n"
	}
	unpack(t, dir, goMod+archive)
	return dir
}

// newPass is a pass over all packages of a module.
func newPass(t *testing.T, dir string, of generator.Generator) *generator.Pass {
	t.Helper()
	registry, err := marker.NewRegistry(of.Markers...)
	if err != nil {
		t.Fatal(err)
	}
	loader := load.New(load.Config{Dir: dir, Registry: registry})
	roots, err := loader.Roots(t.Context(), "./...")
	if err != nil {
		t.Fatal(err)
	}
	return &generator.Pass{Roots: roots, Loader: loader, Dir: dir}
}

// messages are those of the findings, with the places relative to the module.
func messages(t *testing.T, pass *generator.Pass) (all []string) {
	t.Helper()
	for _, f := range pass.Loader.Findings() {
		rel, err := filepath.Rel(pass.Dir, f.File)
		if err != nil {
			t.Fatal(err)
		}
		f.File = filepath.ToSlash(rel)
		all = append(all, f.Position.String()+": "+f.Message) //nolint:staticcheck // f.String would read as all of the finding
	}
	return all
}

// TestFindings: what would keep clients from compiling, or from being right, is told with its place.
func TestFindings(t *testing.T) {
	for _, test := range []struct {
		name, files string
		want        []string
	}{
		{"all is there", v1, nil},
		{"no group", strings.Replace(v1, "// +groupName=batch.example.com\n", "", 1), []string{"api/batch/v1/types.go: clients need the package's API group; add // +groupName=<group> above the package clause"}},
		{"a folder that is no version", strings.Replace(v1, "api/batch/v1", "api/batch", 1), []string{"api/batch/types.go: clients need a package whose folder has the name of its API version; this one is named batch"}},
		{"no group and version in code", strings.Replace(v1, "var GroupVersion = schema.GroupVersion{}", "", 1), []string{
			`api/batch/v1/types.go: clients need the group and version in the package: var GroupVersion = schema.GroupVersion{Group: "batch.example.com", Version: "v1"}`,
		}},
		{"no scheme", strings.Replace(v1, "AddToScheme", "other", 1), []string{"api/batch/v1/types.go: clients need AddToScheme in the package, the function that adds its types to a scheme"}},
		{"no list", strings.Replace(v1, "type JobList", "type Others", 1), []string{"api/batch/v1/types.go:17:6: Job has +genclient but no list type; declare JobList"}},
		{"no list, and none needed", strings.Replace(strings.Replace(v1, "type JobList", "type Others", 1), "// +genclient\n", "// +genclient\n// +genclient:noVerbs\n", 1), nil},
		{"no metadata", strings.Replace(v1, "\tmetav1.ObjectMeta\n", "", 1), []string{"api/batch/v1/types.go:17:6: Job has +genclient but does not embed metav1.TypeMeta and metav1.ObjectMeta"}},
		{"metadata of another version's type", v1 + "-- api/batch/v2/types.go --\n" + doc + "package v2\n\nimport v1 \"example.com/op/api/batch/v1\"\n\nvar GroupVersion, AddToScheme = 1, 2\n\n// +genclient\ntype Job v1.Job\n\ntype JobList struct{}\n", nil},
		{"a value", strings.Replace(v1, "+genclient\n", "+genclient=false\n", 1), []string{"api/batch/v1/types.go:17:6: +genclient takes no value; remove the line to have no client"}},
		{"two packages of one name", v1 + strings.Replace(v1, "api/batch", "other/batch", 1), []string{
			"other/batch/v1: clients of batch.example.com and of batch.example.com need the same package batch/v1; generate each group into its own folder",
		}},
		{"two groups of one name", v1 + strings.Replace(strings.Replace(v1, "api/batch", "api/other", 1), "batch.example.com", "batch.example.org", 1), []string{
			"api/other/v1: the clients of example.com/op/api/batch/v1 and of example.com/op/api/other/v1 have the same name batch/v1 in a clientset; generate each group into its own folder (--group other), or rename one with // +groupGoName=<name>",
		}},
		{"two groups, of which one has another name", v1 + strings.Replace(strings.Replace(v1, "api/batch", "api/other", 1), "batch.example.com\n", "batch.example.org\n// +groupGoName=other\n", 1), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			pass := newPass(t, newModule(t, test.files), Generator())
			found := find(pass, nil)
			if diff := cmp.Diff(test.want, messages(t, pass)); diff != "" || found.failed != (test.want != nil) {
				t.Errorf("failed %v: %s", found.failed, diff)
			}
		})
	}
}

// TestGroups: a group is meant by its name, the first part of it, or its folder.
func TestGroups(t *testing.T) {
	pass := newPass(t, newModule(t, v1+strings.Replace(strings.Replace(v1, "api/batch", "api/ships", 1), "batch.example.com", "ship.example.com", 1)), Generator())
	for group, want := range map[string]string{"batch": "batch.example.com", "ship.example.com": "ship.example.com", "ships": "ship.example.com", "sh": ""} {
		found := find(pass, []string{group})
		got := ""
		for _, v := range found.versions {
			got += v.group
		}
		if got != want {
			t.Errorf("%s is the group %q, want %q", group, got, want)
		}
		if err, ok := errors.AsType[*report.Error](found.nothing([]string{group})); want == "" && (!ok || err.Where != group || err.Hint != "use one of batch.example.com, ship.example.com") {
			t.Errorf("%s: got %v", group, err)
		}
	}
	none := newPass(t, newModule(t, strings.Replace(v1, "// +genclient\n", "", 1)), Generator())
	err, ok := errors.AsType[*report.Error](find(none, nil).nothing(nil))
	if !ok || !strings.HasSuffix(err.Where, "types.go:16:6") || err.Hint != "the line // +genclient above type Job" {
		t.Errorf("without a type that asks: %v", err)
	}
}

func TestVerbs(t *testing.T) {
	for text, want := range map[string]string{
		"get,list": "", "creates": `unknown verb "creates": did you mean create?`, "updateStatsu": `unknown verb "updateStatsu": did you mean updateStatus?`,
		"get,everything": `unknown verb "everything": known are ` + strings.Join(knownVerbs, ", "),
	} {
		var v verbs
		if err := v.UnmarshalMarker("", text); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

func TestExternals(t *testing.T) {
	got, err := externalsOf([]string{"a/b.T@c/d"})
	if diff := cmp.Diff(map[string]string{"a/b.T": "c/d"}, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	if _, err := externalsOf([]string{"a/b.T"}); err == nil {
		t.Error("one without a package is taken")
	}
}

// TestClientGo: the generators are of the version that the module requires, whatever it is replaced by.
func TestClientGo(t *testing.T) {
	for _, test := range []struct{ mod, want string }{
		{"require k8s.io/client-go v0.36.1\nrequire k8s.io/apimachinery v0.36.0", "v0.36.1"},
		{"require k8s.io/apimachinery v0.36.0", "v0.36.0"},
		{"require k8s.io/client-go v0.36.1\nreplace k8s.io/client-go => k8s.io/client-go v0.35.0", "v0.35.0"},
		{"require k8s.io/client-go v0.36.1\nreplace k8s.io/client-go v0.30.0 => k8s.io/client-go v0.35.0", "v0.36.1"},
		{"require k8s.io/client-go v0.36.1\nreplace k8s.io/client-go => ../client-go", "v0.36.1"},
		{"require k8s.io/client-go v0.0.0-20240101000000-0123456789ab", ""},
		{"", ""},
		{"not a go.mod", ""},
	} {
		dir := t.TempDir()
		unpack(t, dir, "-- go.mod --\nmodule example.com/op\n\n"+test.mod+"\n")
		if got := (goModule{dir: dir}).clientGo(load.New(load.Config{Dir: dir})); got != test.want {
			t.Errorf("%q: got %q, want %q", test.mod, got, test.want)
		}
	}
}

func TestModuleOf(t *testing.T) {
	dir := t.TempDir()
	unpack(t, dir, "-- go.mod --\nmodule example.com/op\n-- nested/go.mod --\nmodule example.com/nested\n-- broken/go.mod --\n\n")
	loader := load.New(load.Config{Dir: dir})
	for below, want := range map[string]string{"a/b": "example.com/op", "nested/a": "example.com/nested", "broken/a": ""} {
		got, err := moduleOf(loader, filepath.Join(dir, filepath.FromSlash(below)))
		if got.path != want || (err != nil) != (want == "") {
			t.Errorf("%s is in the module %q, %v, want %q", below, got.path, err, want)
		}
	}
	if _, err := moduleOf(loader, filepath.Dir(filepath.Dir(dir))); err == nil {
		t.Error("a folder without a module has one")
	}
}

// TestInputs: what generated code follows from has another hash when it changes, and the same one when something else
// does.
func TestInputs(t *testing.T) {
	const other = "-- internal/x/x.go --\npackage x\n-- internal/y/y.go --\npackage y\n"
	files := strings.Replace(v1, "import (\n", "import (\n\t_ \"example.com/op/internal/x\"\n", 1) + other
	dir := newModule(t, files)
	hash := func() string {
		pass := newPass(t, dir, Generator())
		got, err := inputsOf(pass.Loader, dir, find(pass, nil).packages())
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	before := hash()
	for _, test := range []struct {
		name, files string
		same        bool
	}{
		{"nothing", "", true},
		{"what is not imported", "-- internal/y/y.go --\npackage y\n\nvar Y int\n", true},
		{"the package", strings.Replace(files, "Size int", "Size int32", 1), false},
		{"what is imported", "-- internal/x/x.go --\npackage x\n\nvar X int\n", false},
		{"a file with versions", "-- go.sum --\n", false},
	} {
		unpack(t, dir, test.files)
		if got := hash(); (got == before) != test.same {
			t.Errorf("%s changed: the hash is the same: %v, want %v", test.name, got == before, test.same)
		}
		unpack(t, dir, files)
	}
}

// program is a script in the place of the real one: it notes the request, and answers with these files or this problem.
func program(t *testing.T, answers ...wire.Answer) (finder *codegen.Finder, requests func() []wire.Request) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no sh")
	}
	dir := t.TempDir()
	for i, a := range answers {
		a.Protocol = wire.Protocol
		text, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "answer"+string(rune('1'+i))), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "program")
	text := "#!/bin/sh\ncd " + dir + "\nn=1\nwhile [ -e request$n ]; do n=$((n+1)); done\ncat >request$n\ncat answer$n\n"
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"SLIPWAY_CODEGEN": path, "SLIPWAY_CACHE": t.TempDir()}
	return codegen.NewFinder(func(key string) string { return env[key] }, report.Discard), func() (all []wire.Request) {
		names, err := filepath.Glob(filepath.Join(dir, "request*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var r wire.Request
			if err := json.Unmarshal(text, &r); err != nil {
				t.Fatal(err)
			}
			all = append(all, r)
		}
		return all
	}
}

// contents are the files of a pass, by their paths below the module.
func contents(t *testing.T, pass *generator.Pass) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, f := range pass.Files() {
		rel, err := filepath.Rel(pass.Dir, f.Path)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.ToSlash(rel)] = string(f.Content)
	}
	return all
}

// TestRun asks for four generators, keeps what they made, and removes what they make no more.
func TestRun(t *testing.T) {
	const stale, mine = "pkg/generated/listers/batch/v1/gone.go", "pkg/generated/listers/batch/v1/mine.go"
	dir := newModule(t, v1+"-- "+stale+" --\n// Code generated by lister-gen. DO NOT EDIT.\n\npackage v1\n-- "+mine+" --\npackage v1\n-- header.txt --\n// mine\n")
	made := filepath.Join(dir, "pkg", "generated", "listers", "batch", "v1", "job.go")
	pass := newPass(t, dir, Generator())
	var requests func() []wire.Request
	pass.Codegen, requests = program(t, wire.Answer{Files: []wire.File{{Path: made, Content: []byte("made")}}})
	if err := run(t.Context(), pass, Options{Dir: "pkg/generated", HeaderFile: "header.txt", PluralExceptions: []string{"Job:Jobz"}}); err != nil {
		t.Fatal(err)
	}
	got := contents(t, pass)
	if got["pkg/generated/listers/batch/v1/job.go"] != "made" {
		t.Errorf("files are %v", got)
	}
	helpers := got["api/batch/v1/zz_generated.clients.go"]
	for _, text := range []string{"// mine\n", "var SchemeGroupVersion = GroupVersion\n", "func Resource(resource string) schema.GroupResource {"} {
		if !strings.Contains(helpers, text) {
			t.Errorf("the helpers lack %q:\n%s", text, helpers)
		}
	}
	var removed []string
	for _, f := range pass.Files() {
		if f.Remove {
			removed = append(removed, filepath.Base(f.Path))
		}
	}
	if !slices.Equal(removed, []string{"gone.go"}) {
		t.Errorf("removed are %v", removed)
	}
	all := requests()
	if len(all) != 1 || all[0].Dir != dir || len(all[0].Runs) != 4 {
		t.Fatalf("requests are %+v", all)
	}
	for i, want := range []string{wire.ApplyConfigurations, wire.Clientset, wire.Listers, wire.Informers} {
		run := all[0].Runs[i]
		header := slices.Index(run.Arguments, "--go-header-file")
		if run.Generator != want || header < 0 || run.Arguments[header+1] != filepath.Join(dir, "header.txt") || !slices.Contains(run.Tags, wire.Tag{Package: "example.com/op/api/batch/v1", Text: "+groupName=batch.example.com"}) {
			t.Errorf("run %d is %+v, want %s", i, run, want)
		}
	}
	if clientset := all[0].Runs[1]; !slices.Contains(clientset.Tags, wire.Tag{Package: "example.com/op/api/batch/v1", Type: "Job", Text: "+resourceName=jobs"}) {
		t.Errorf("the clientset's tags are %v", clientset.Tags)
	}
}

// TestRunWithoutApply: where apply configurations cannot be made, the rest is, and the user learns of it.
func TestRunWithoutApply(t *testing.T) {
	dir := newModule(t, v1)
	pass := newPass(t, dir, Generator())
	var requests func() []wire.Request
	refusal := wire.Answer{Problem: "a type that I do not like"} // also when the go command finds the packages
	pass.Codegen, requests = program(t, refusal, refusal, wire.Answer{Files: []wire.File{{Path: filepath.Join(dir, "pkg", "x.go"), Content: []byte("made")}}})
	if err := run(t.Context(), pass, Options{Dir: "pkg"}); err != nil {
		t.Fatal(err)
	}
	if all := requests(); len(all) != 3 || len(all[0].World) == 0 || len(all[1].World) > 0 || len(all[2].Runs) != 3 || contents(t, pass)["pkg/x.go"] != "made" {
		t.Errorf("requests are %+v", all)
	}
	if got := messages(t, pass); len(got) != 1 || !strings.Contains(got[0], "api/batch/v1: clients have no apply configurations") {
		t.Errorf("findings are %v", got)
	}
	refused := newPass(t, dir, Generator())
	refused.Codegen, _ = program(t, wire.Answer{Problem: "nothing goes"}, wire.Answer{Problem: "nothing goes"}, wire.Answer{Problem: "nothing goes"})
	if err := run(t.Context(), refused, Options{Dir: "pkg"}); err != nil || len(refused.Files()) > 0 || len(messages(t, refused)) != 1 {
		t.Errorf("got %v, findings %v, files %v", err, messages(t, refused), refused.Files())
	}
}

func TestRunRefuses(t *testing.T) {
	dir := newModule(t, v1)
	for name, options := range map[string]Options{"the module's folder": {Dir: "."}, "a header that does not exist": {Dir: "pkg", HeaderFile: "none"}, "an external that is none": {Dir: "pkg", Externals: []string{"x"}}, "a group that does not exist": {Dir: "pkg", Groups: []string{"none"}}} {
		if err := run(t.Context(), newPass(t, dir, Generator()), options); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// applied is v1 with fields that are serialised.
var applied = strings.NewReplacer("metav1.TypeMeta\n", "metav1.TypeMeta `json:\",inline\"`\n", "metav1.ObjectMeta\n", "metav1.ObjectMeta `json:\"metadata,omitempty\"`\n").Replace(v1)

// files are the names of a pass's files below the module.
func files(t *testing.T, pass *generator.Pass) []string {
	t.Helper()
	return slices.Sorted(maps.Keys(contents(t, pass)))
}

// TestApply makes the apply configurations of the kinds in packages that have the marker, and asks no other program.
func TestApply(t *testing.T) {
	dir := newModule(t, applied+"-- other/v1/types.go --\npackage v1\n\ntype Other struct{}\n-- header.txt --\n// Since YEAR\n")
	pass := newPass(t, dir, ApplyGenerator())
	if err := runApply(t.Context(), pass, ApplyOptions{HeaderFile: "header.txt"}); err != nil {
		t.Fatal(err)
	}
	const out = "api/batch/v1/applyconfiguration/"
	if diff := cmp.Diff([]string{out + "batch/v1/job.go", out + "internal/internal.go", out + "utils.go"}, files(t, pass)); diff != "" {
		t.Fatalf("%v: %s", messages(t, pass), diff)
	}
	year := strconv.Itoa(time.Now().UTC().Year())
	for name, text := range contents(t, pass) {
		if !strings.HasPrefix(text, "// Since "+year+"\n\n// Code generated by controller-gen. DO NOT EDIT.\n\npackage ") {
			t.Errorf("%s begins with\n%.200s", name, text)
		}
	}
	job := contents(t, pass)[out+"batch/v1/job.go"]
	for _, text := range []string{"func Job(name, namespace string) *JobApplyConfiguration {", "func (b *JobApplyConfiguration) WithSize(value int) *JobApplyConfiguration {"} {
		if !strings.Contains(job, text) {
			t.Errorf("no %q in\n%s", text, job)
		}
	}
}

// TestApplyLeft asks Kubernetes' own generator where ours does not write the same, and remembers nothing of that.
func TestApplyLeft(t *testing.T) {
	const unsupported = "// +genclient:method=ApplyScale,verb=apply,subresource=scale,input=Scale\n"
	dir := newModule(t, strings.Replace(applied, "// +genclient\n", "// +genclient\n"+unsupported, 1)+"-- header.txt --\n")
	pass := newPass(t, dir, ApplyGenerator())
	var requests func() []wire.Request
	pass.Codegen, requests = program(t, wire.Answer{Files: []wire.File{{Path: filepath.Join(dir, "made.go"), Content: []byte("made")}}})
	if err := runApply(t.Context(), pass, ApplyOptions{HeaderFile: "header.txt", ExternalApplyConfigurations: []string{"a/b.T@c/d"}}); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, pass)["made.go"]; got != "made" || len(pass.Memory().Units) > 0 {
		t.Errorf("made is %q, remembered are %v", got, pass.Memory().Units)
	}
	all := requests()
	if len(all) != 1 || len(all[0].Runs) != 1 {
		t.Fatalf("requests are %+v, findings %v", all, messages(t, pass))
	}
	read := make(map[string]int)
	for _, p := range all[0].World {
		read[p.Path] = len(p.Files)
	}
	if read["example.com/op/api/batch/v1"] != 1 || read["k8s.io/apimachinery/pkg/apis/meta/v1"] == 0 {
		t.Errorf("the generators read %v", read)
	}
	got := all[0].Runs[0]
	if got.Schema == nil {
		t.Error("the types are not described")
	}
	got.Schema = nil
	want := wire.Run{
		Generator: wire.ApplyConfigurations, Name: "controller-gen", Packages: []string{"example.com/op/api/batch/v1"}, Externals: map[string]string{"a/b.T": "c/d"},
		Arguments: []string{"--output-dir", filepath.Join(dir, "api", "batch", "v1", "applyconfiguration"), "--output-pkg", "example.com/op/api/batch/v1/applyconfiguration", "--go-header-file", filepath.Join(dir, "header.txt")},
		Tags:      []wire.Tag{{Package: "example.com/op/api/batch/v1", Text: "+groupName=batch.example.com"}, {Package: "example.com/op/api/batch/v1", Type: "Job", Text: "+genclient"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestApplyProgram: apply configurations name the program by which they were asked for, unless its name is to be left
// out. What looks like the ending of a file's name is not part of it.
func TestApplyProgram(t *testing.T) {
	yes := true
	for _, c := range []struct {
		program string
		omit    *bool
		want    string
	}{{"", nil, "controller-gen"}, {"controller-gen-v0.20.1", nil, "controller-gen-v0.20"}, {"controller-gen-v0.20.1", &yes, "controller-gen"}} {
		pass := newPass(t, newModule(t, applied), ApplyGenerator())
		pass.Program = c.program
		if err := runApply(t.Context(), pass, ApplyOptions{OmitToolVersion: c.omit}); err != nil {
			t.Fatal(err)
		}
		for name, text := range contents(t, pass) {
			if !strings.HasPrefix(text, "// Code generated by "+c.want+". DO NOT EDIT.\n") {
				t.Errorf("%q: %s begins with\n%.200s", c.program, name, text)
			}
		}
	}
}

// TestApplyMarkers: markers say where to, for which types, and without a group there is nothing.
func TestApplyMarkers(t *testing.T) {
	for _, test := range []struct {
		name, files string
		types       []string
		out, finds  string
	}{
		{"not this type", strings.Replace(applied, "// +genclient\n", "// +kubebuilder:ac:generate=false\n", 1), nil, "applyconfiguration", ""},
		{"a type that is no kind", applied + "\n// +kubebuilder:ac:generate=true\ntype Part struct{\n\tmetav1.ObjectMeta `json:\"metadata\"`\n\tA int `json:\"a\"`\n}\n", []string{"job", "part"}, "applyconfiguration", ""},
		{"another folder", strings.Replace(applied, doc, doc+"// +kubebuilder:ac:output:package=out/apply\n", 1), []string{"job"}, "out/apply", ""},
		{"no group", strings.Replace(applied, "// +groupName=batch.example.com\n", "", 1), nil, "", "api/batch/v1/types.go:1:"},
	} {
		pass := newPass(t, newModule(t, test.files), ApplyGenerator())
		if err := runApply(t.Context(), pass, ApplyOptions{}); err != nil {
			t.Fatal(err)
		}
		if test.finds != "" {
			if got := messages(t, pass); len(got) != 1 || !strings.HasPrefix(got[0], test.finds) || len(pass.Files()) > 0 {
				t.Errorf("%s: findings are %v", test.name, got)
			}
			continue
		}
		out := "api/batch/v1/" + test.out + "/"
		want := []string{out + "internal/internal.go", out + "utils.go"}
		for _, name := range test.types {
			want = append(want, out+"batch/v1/"+name+".go")
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, files(t, pass)); diff != "" {
			t.Errorf("%s: findings are %v: %s", test.name, messages(t, pass), diff)
		}
	}
}
