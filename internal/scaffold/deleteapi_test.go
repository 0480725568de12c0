package scaffold

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
)

// deletionOf returns what takes an API out again.
func deletionOf(api API) Deletion {
	return Deletion{Group: api.Group, Version: api.Version, Kind: api.Kind}
}

// drawAPI makes one of the APIs that a project may have.
func drawAPI(random *rand.Rand, multigroup bool) API {
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	api := API{
		Group: "batch", Version: pick("v1", "v2", "v1alpha1"), Kind: pick("CronJob", "Backup", "VGPUInstance", "Range"),
		Resource: true, Controller: random.IntN(3) > 0, Namespaced: random.IntN(2) > 0,
	}
	switch random.IntN(6) {
	case 0:
		api.SSA = true
	case 1:
		api.Controller, api.Namespaced, api.Image = true, true, Image{Name: "nginx:1", Port: pick("", "80")}
	case 2:
		return API{Group: pick("apps", "core"), Version: "v1", Kind: pick("Deployment", "Pod", "Any"), Controller: true, Namespaced: true, ControllerName: pick("", "one", "two-b")}
	}
	if multigroup {
		api.Group = pick("batch", "ship", "a-b", "ab", "")
	}
	if api.Kind == "VGPUInstance" && random.IntN(2) > 0 {
		api.Plural = "vgpus"
	}
	return api
}

// TestDeleteUndoesCreate: whatever APIs a project has, creating one and deleting it leaves
// every byte as it was, those of the base included; and a project of which all are
// deleted, in any order, is a new one again.
func TestDeleteUndoesCreate(t *testing.T) {
	t.Parallel()
	tried, undone := seeds(), 0
	for _, seed := range tried {
		random := rand.New(rand.NewPCG(seed, 2))
		multigroup := random.IntN(2) > 0
		root := newProject(t, Project{MultiGroup: multigroup})
		fresh := tree(t, root)
		var made []API
		for range 5 {
			api := drawAPI(random, multigroup)
			before := tree(t, root)
			if slices.ContainsFunc(made, func(m API) bool { return deletionOf(m) == deletionOf(api) }) {
				continue // that would add to an API, not create one
			}
			plan, err := CreateAPI(fileview.Disk(root), api)
			if err != nil {
				continue // two controllers of a kind
			}
			must(t, plan.Apply(report.Discard))
			if random.IntN(3) == 0 {
				made = append(made, api)
				continue
			}
			apply(t)(DeleteAPI(fileview.Disk(root), deletionOf(api)))
			if diff := treeDiff(before, tree(t, root)); diff != "" {
				t.Fatalf("seed %d: %+v after %+v: %s", seed, api, made, diff)
			}
			undone++
		}
		random.Shuffle(len(made), func(i, j int) { made[i], made[j] = made[j], made[i] })
		for _, api := range made {
			apply(t)(DeleteAPI(fileview.Disk(root), deletionOf(api)))
		}
		if diff := treeDiff(fresh, tree(t, root)); diff != "" {
			t.Fatalf("seed %d: without %+v: %s", seed, made, diff)
		}
	}
	if len(tried) >= 10 && undone < len(tried) {
		t.Errorf("only %d were undone", undone)
	}
}

// TestDeleteTwice: the second time there is nothing to do, and what there is is named, or what is meant.
func TestDeleteTwice(t *testing.T) {
	root := newProject(t, Project{})
	apply(t)(CreateAPI(fileview.Disk(root), cronJob()))
	backup := cronJob()
	backup.Kind = "Backup"
	apply(t)(CreateAPI(fileview.Disk(root), backup))
	apply(t)(DeleteAPI(fileview.Disk(root), deletionOf(cronJob())))
	for kind, want := range map[string]string{
		"CronJob": "the project has no batch.example.com/v1 CronJob; it has\n  --group batch --version v1 --kind Backup",
		"BackUps": "the project has no batch.example.com/v1 BackUps; did you mean --group batch --version v1 --kind Backup?",
	} {
		plan, err := DeleteAPI(fileview.Disk(root), Deletion{Group: "batch", Version: "v1", Kind: kind})
		must(t, err)
		if !plan.Empty() || plan.Because() != want {
			t.Errorf("%v, because %s", plan.Changes(), plan.Because())
		}
	}
}

// editFile replaces text of a file, which must have it.
func editFile(t *testing.T, root, name, old, new string) {
	t.Helper()
	src := read(t, root, name)
	if !strings.Contains(src, old) {
		t.Fatalf("%s has no %q", name, old)
	}
	must(t, os.WriteFile(filepath.Join(root, name), []byte(strings.Replace(src, old, new, 1)), 0o644))
}

// TestDeleteKeepsChanges: each kind of edit stays, with what it needs to compile, and is
// told with its place; --with-changes deletes changed files too.
func TestDeleteKeepsChanges(t *testing.T) {
	const (
		types      = "api/v1/cronjob_types.go"
		info       = "api/v1/groupversion_info.go"
		controller = "internal/controller/cronjob_controller.go"
		test       = "internal/controller/cronjob_controller_test.go"
		suite      = "internal/controller/suite_test.go"
		main       = "cmd/main.go"
		yours      = "you changed it; --with-changes deletes it, too"
	)
	tests := []struct {
		name string
		edit func(t *testing.T, root string)
		kept map[string]string // paths and the reasons
		gone []string
		with map[string]string // what stays --with-changes
	}{
		{"a field", func(t *testing.T, root string) { editFile(t, root, types, "struct {", "struct {\n\tMine int") },
			map[string]string{types: yours, info: "it is used at " + types + ":"}, []string{controller, test, suite}, nil},
		{"the controller", func(t *testing.T, root string) {
			editFile(t, root, controller, "return ctrl.Result{}", "/* mine */ return ctrl.Result{}")
		},
			map[string]string{controller: yours, types: "it is used at " + controller, info: "it is used at " + types}, []string{test, suite}, nil},
		{"the test", func(t *testing.T, root string) { editFile(t, root, test, "t.Fatal", "/* mine */ t.Fatal") },
			map[string]string{test: yours, controller: "it is used at " + test, suite: "it is used at " + test, types: "it is used at ", info: "it is used at "}, nil, nil},
		{"the sample", func(t *testing.T, root string) {
			editFile(t, root, "config/samples/batch_v1_cronjob.yaml", "name:", "name: my")
		},
			map[string]string{"config/samples/batch_v1_cronjob.yaml": yours}, []string{types, controller, test, "config/samples/kustomization.yaml"}, nil},
		{"line ends", func(t *testing.T, root string) {
			must(t, os.WriteFile(filepath.Join(root, types), []byte(strings.ReplaceAll(read(t, root, types), "\n", "\r\n")), 0o644))
		}, nil, []string{types, controller}, nil},
		{"the wiring", func(t *testing.T, root string) {
			editFile(t, root, main, "Scheme: mgr.GetScheme(),", "Scheme: scheme, // mine")
		},
			map[string]string{main: "line <(&controller.CronJobReconciler{> has your changes", controller: "it is used at " + main, types: "it is used at ", info: "it is used at "}, []string{test, suite},
			map[string]string{main: "line <(&controller.CronJobReconciler{> has your changes", controller: "it is used at " + main, types: "it is used at ", info: "it is used at "}},
		{"a use in main", func(t *testing.T, root string) {
			editFile(t, root, main, "return mgr.Start(ctx)", "_ = batchv1.CronJob{}\n\treturn mgr.Start(ctx)")
		},
			map[string]string{main: "line <_ = batchv1.CronJob{}> has your changes", controller: "it is used at " + main, types: "it is used at ", info: "it is used at "}, []string{test, suite},
			map[string]string{main: "line <_ = batchv1.CronJob{}> has your changes", controller: "it is used at " + main, types: "it is used at ", info: "it is used at "}},
		{"a use elsewhere", func(t *testing.T, root string) {
			must(t, os.WriteFile(filepath.Join(root, "internal", "mine.go"), []byte("package internal\n\nimport b \"example.com/op/api/v1\"\n\nvar Mine b.CronJobSpec\n"), 0o644))
		}, map[string]string{types: "it is used at internal/mine.go:5", info: "it is used at " + types}, []string{controller, test, suite},
			map[string]string{types: "it is used at internal/mine.go:5", info: "it is used at " + types}},
		{"a line of a list", func(t *testing.T, root string) {
			editFile(t, root, "config/rbac/kustomization.yaml", "- cronjob_viewer_role.yaml", "- cronjob_viewer_role.yaml # mine")
		}, map[string]string{"config/rbac/kustomization.yaml": "line <# mine> has your changes"}, []string{types, controller, test, suite}, map[string]string{"config/rbac/kustomization.yaml": "line <# mine> has your changes"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root := newProject(t, Project{})
			apply(t)(CreateAPI(fileview.Disk(root), cronJob()))
			test.edit(t, root)
			d := deletionOf(cronJob())
			checkDeletion(t, root, d, test.kept, test.gone)
			checkCompiles(t, root)
			d.WithChanges = true
			if plan, err := DeleteAPI(fileview.Disk(root), d); len(test.kept) > 0 && err == nil && plan.Because() == "" {
				checkDeletion(t, root, d, test.with, test.gone)
			} else if err != nil || plan.Because() == "" {
				t.Errorf("--with-changes: %v, %q", err, plan.Because())
			}
			checkCompiles(t, root)
		})
	}
}

// lineOf stands for the number of the line that has a text.
var lineOf = regexp.MustCompile(`<(.+)>`)

// withLines puts into reasons the numbers of the lines that they name by their text, as the files have them now.
func withLines(t *testing.T, root string, reasons map[string]string) map[string]string {
	t.Helper()
	numbered := maps.Clone(reasons)
	for path, why := range reasons {
		if text := lineOf.FindStringSubmatch(why); text != nil {
			before, _, found := strings.Cut(read(t, root, path), text[1])
			if !found {
				t.Fatalf("%s has no %q", path, text[1])
			}
			numbered[path] = lineOf.ReplaceAllLiteralString(why, strconv.Itoa(1+strings.Count(before, "\n")))
		}
	}
	return numbered
}

// checkDeletion deletes, and compares what is kept and gone.
func checkDeletion(t *testing.T, root string, d Deletion, kept map[string]string, gone []string) {
	t.Helper()
	plan, err := DeleteAPI(fileview.Disk(root), d)
	must(t, err)
	kept = withLines(t, root, kept)
	told := map[string]string{}
	for _, f := range plan.Changes() {
		if f.Why != "" {
			told[f.Path] = f.Why
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(kept)), slices.Sorted(maps.Keys(told))); diff != "" {
		t.Errorf("with changes %v: %v: %s", d.WithChanges, told, diff)
	}
	for path, why := range kept {
		if !strings.HasPrefix(told[path], why) {
			t.Errorf("%s: %q, want %q", path, told[path], why)
		}
	}
	must(t, plan.Apply(report.Discard))
	for _, path := range gone {
		if _, err := os.Stat(filepath.Join(root, path)); err == nil {
			t.Errorf("%s is there", path)
		}
	}
}

// TestDeleteWithoutBase: in a project that another tool made, what is as slipway would write
// it goes, and what is not stays unless that is said.
func TestDeleteWithoutBase(t *testing.T) {
	root := newProject(t, Project{})
	must(t, os.RemoveAll(filepath.Join(root, ".slipway")))
	role := read(t, root, "config/rbac/role.yaml")
	main := read(t, root, "cmd/main.go")
	before := tree(t, root)
	apply(t)(CreateAPI(fileview.Disk(root), cronJob()))
	apply(t)(DeleteAPI(fileview.Disk(root), deletionOf(cronJob())))
	if diff := treeDiff(before, tree(t, root)); diff != "" {
		t.Error(diff)
	}

	apply(t)(CreateAPI(fileview.Disk(root), cronJob()))
	must(t, os.RemoveAll(filepath.Join(root, ".slipway")))
	editFile(t, root, "cmd/main.go", `return fmt.Errorf("set up the CronJob controller: %w", err)`, `setupLog.Error(err, "unable to create controller", "controller", "CronJob")`+"\n\t\tos.Exit(1)")
	editFile(t, root, "internal/controller/cronjob_controller.go", "return ctrl.Result{}", "/* another tool's */ return ctrl.Result{}")
	d := deletionOf(cronJob())
	made := tree(t, root)
	if _, err := DeleteAPI(fileview.Disk(root), d); err == nil || !strings.Contains(err.Error(), "no other code uses it, so --with-changes deletes it") {
		t.Errorf("a kind whose code would stay: %v", err)
	}
	if diff := treeDiff(made, tree(t, root)); diff != "" {
		t.Error(diff)
	}
	d.WithChanges = true
	const unmarked = "it has no markers any more"
	checkDeletion(t, root, d, map[string]string{"config/rbac/role.yaml": unmarked}, []string{"internal/controller/cronjob_controller.go", "api/v1/cronjob_types.go", "config/samples/batch_v1_cronjob.yaml"})
	if diff := cmp.Diff(main, read(t, root, "cmd/main.go")); diff != "" {
		t.Error(diff)
	}
	if got := read(t, root, "config/rbac/role.yaml"); got != role {
		t.Errorf("the role is %s", got)
	}
}

// TestDeleteBesideKindsElsewhere: kinds whose controllers and webhooks are in packages of the author's own need none
// of what came with a kind that goes: neither its imports, which Go would refuse, nor its suites. They keep what all
// share.
func TestDeleteBesideKindsElsewhere(t *testing.T) {
	root := newProject(t, Project{})
	o := cronJob()
	apply(t)(CreateAPI(fileview.Disk(root), o))
	apply(t)(CreateWebhook(fileview.Disk(root), Webhook{Group: o.Group, Version: o.Version, Kind: o.Kind, Defaulting: true}))
	move := func(from, to string, names ...string) {
		must(t, os.MkdirAll(filepath.Join(root, to), 0o755))
		for _, name := range names {
			must(t, os.Rename(filepath.Join(root, from, name), filepath.Join(root, to, name)))
		}
	}
	move("internal/controller", "pkg/controllers", "cronjob_controller.go", "cronjob_controller_test.go", "suite_test.go")
	move("internal/webhook/v1", "pkg/webhooks", "cronjob_webhook.go", "cronjob_admission_test.go", "webhook_suite_test.go")
	must(t, os.RemoveAll(filepath.Join(root, ".slipway")))
	editFile(t, root, "cmd/main.go", `"example.com/op/internal/controller"`, `controller "example.com/op/pkg/controllers"`)
	editFile(t, root, "cmd/main.go", `"example.com/op/internal/webhook/v1"`, `"example.com/op/pkg/webhooks"`)
	before := tree(t, root)
	o.Kind = "Backup"
	apply(t)(CreateAPI(fileview.Disk(root), o))
	apply(t)(CreateWebhook(fileview.Disk(root), Webhook{Group: o.Group, Version: o.Version, Kind: o.Kind, Validation: true}))
	apply(t)(DeleteAPI(fileview.Disk(root), deletionOf(o)))
	must(t, os.RemoveAll(filepath.Join(root, ".slipway")))
	if diff := treeDiff(before, tree(t, root)); diff != "" {
		t.Error(diff)
	}
}

// TestDeleteBesideOtherTests: a controller whose authors test it without a suite does not keep the suite that came with
// a kind that goes.
func TestDeleteBesideOtherTests(t *testing.T) {
	root := newProject(t, Project{})
	o := cronJob()
	apply(t)(CreateAPI(fileview.Disk(root), o))
	must(t, os.RemoveAll(filepath.Join(root, ".slipway")))
	must(t, os.Remove(filepath.Join(root, "internal/controller/suite_test.go")))
	unpack(t, root, "-- internal/controller/cronjob_controller_test.go --\npackage controller\n")
	before := tree(t, root)
	o.Kind = "Backup"
	apply(t)(CreateAPI(fileview.Disk(root), o))
	if _, err := os.Stat(filepath.Join(root, "internal/controller/suite_test.go")); err != nil {
		t.Fatal(err)
	}
	apply(t)(DeleteAPI(fileview.Disk(root), deletionOf(o)))
	must(t, os.RemoveAll(filepath.Join(root, ".slipway")))
	if diff := treeDiff(before, tree(t, root)); diff != "" {
		t.Error(diff)
	}
}
