package newversion_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/base"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/fieldcopy"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newapi"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newversion"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newwebhook"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
)

func remove(root, version, to string) (*plan.Plan, error) {
	p, _, err := newversion.Delete(fileview.Disk(root), newversion.Deletion{Group: "batch", Kind: "CronJob", Version: version, To: to})
	return p, err
}

// contents returns all files of a project. The record of what was scaffolded counts by its texts.
func contents(t *testing.T, root string) map[string]string {
	t.Helper()
	tree := projecttest.Tree(t, root)
	record, err := base.Read(fileview.Disk(root))
	if err != nil {
		t.Fatal(err)
	}
	delete(tree, base.Path)
	for name, text := range record.Files() {
		tree["scaffolded "+name] = string(text)
	}
	return tree
}

// TestDeleteUndoesCreate: a version that comes and goes changes nothing.
func TestDeleteUndoesCreate(t *testing.T) {
	for _, test := range []struct {
		name    string
		prepare func(root string)
		version string
		from    string
		storage bool
	}{
		{"hub", func(string) {}, "v1", "v1alpha1", true},
		{"spoke", func(string) {}, "v2alpha1", "v1alpha1", false},
		{"third, hub", func(root string) { projecttest.Apply(t)(create(root, "v1", "v1alpha1", true)) }, "v2", "v1", true},
		{"third, spoke", func(root string) { projecttest.Apply(t)(create(root, "v1", "v1alpha1", true)) }, "v2alpha1", "v1", false},
		{"code of the authors", func(root string) { projecttest.Unpack(t, root, authors) }, "v1", "v1alpha1", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := newProject(t)
			test.prepare(root)
			before := contents(t, root)
			projecttest.Apply(t)(create(root, test.version, test.from, test.storage))
			projecttest.Apply(t)(remove(root, test.version, test.from))
			if diff := cmp.Diff(before, contents(t, root)); diff != "" {
				t.Error(diff)
			}
			if again, err := remove(root, test.version, test.from); err != nil || !again.Empty() || again.Because() == "" {
				t.Errorf("a second time there is something to do: %v", err)
			}
		})
	}
}

// authors has helpers of the types, an import without a version in its name, and registrations of several forms.
const authors = `
-- api/v1alpha1/doc.go --
// Package v1alpha1 has the types.
package v1alpha1
-- api/v1alpha1/phases.go --
package v1alpha1

// Reset changes a CronJob.
func (c *CronJob) Reset() {}
-- internal/a/a.go --
package a

import (
	batch "example.com/op/api/v1alpha1"
)

var adders = []any{
	first.AddToScheme,
	batch.AddToScheme,
}

var one batch.CronJob

func add(s *runtime.Scheme) error {
	if err := batch.AddToScheme(s); err != nil {
		return err
	}
	err := first.AddToScheme(s)
	return err
}

var version = batch.GroupVersion
-- examples/one.yaml --
apiVersion: batch.example.com/v1alpha1
kind: CronJob
`

// TestDeleteOfSeveralKinds: other kinds of the version stay, in files of their own and in files for several.
func TestDeleteOfSeveralKinds(t *testing.T) {
	root := newProject(t)
	projecttest.Apply(t)(newapi.Create(fileview.Disk(root), newapi.Options{Group: "batch", Version: "v1alpha1", Kind: "Job", Resource: true, Namespaced: true}))
	projecttest.Apply(t)(newwebhook.Create(fileview.Disk(root), newwebhook.Options{Group: "batch", Version: "v1alpha1", Kind: "Job", Validation: true}))
	before := contents(t, root)
	projecttest.Apply(t)(create(root, "v1", "v1alpha1", true))
	one := contents(t, root)
	p, _, err := newversion.Create(fileview.Disk(root), newversion.Options{Group: "batch", Kind: "Job", Version: "v1", From: "v1alpha1", Storage: true})
	projecttest.Apply(t)(p, err)
	p, _, err = newversion.Delete(fileview.Disk(root), newversion.Deletion{Group: "batch", Kind: "Job", Version: "v1"})
	projecttest.Apply(t)(p, err)
	const suite = "internal/webhook/v1alpha1/webhook_suite_test.go" // it has been moved, copied and divided
	same := func(a, b map[string]string) string {
		a, b = maps.Clone(a), maps.Clone(b)
		for _, tree := range []map[string]string{a, b} {
			delete(tree, suite)
			delete(tree, "scaffolded "+suite)
		}
		return cmp.Diff(a, b)
	}
	if diff := same(one, contents(t, root)); diff != "" {
		t.Error(diff)
	}
	projecttest.Holds(t, root, suite, "SetupJobWebhookWithManager", "!SetupCronJobWebhookWithManager")
	projecttest.Apply(t)(remove(root, "v1", ""))
	if diff := same(before, contents(t, root)); diff != "" {
		t.Error(diff)
	}
	projecttest.Holds(t, root, suite, "SetupJobWebhookWithManager", "SetupCronJobWebhookWithManager", "!batchv1 ")
}

// TestDeleteFromSharedFiles takes the declarations of a kind out of a file, and leaves those of another kind.
func TestDeleteFromSharedFiles(t *testing.T) {
	root := newProject(t)
	projecttest.Apply(t)(create(root, "v1", "v1alpha1", true))
	types := projecttest.Read(t, root, "api/v1/cronjob_types.go")
	projecttest.Unpack(t, root, "-- api/v1/cronjob_types.go --\n"+types+`
// Other is another kind.
// +kubebuilder:object:root=true
type Other struct {
	metav1.TypeMeta   `+"`json:\",inline\"`"+`
	metav1.ObjectMeta `+"`json:\"metadata,omitempty\"`"+`
	Status CronJobStatus
}
`)
	p, err := remove(root, "v1", "")
	if text := refusal(t, p, err); !strings.Contains(text, "api/v1/cronjob_types.go") || !strings.Contains(text, "--with-changes") {
		t.Error(text)
	}
	p, _, err = newversion.Delete(fileview.Disk(root), newversion.Deletion{Group: "batch", Kind: "CronJob", Version: "v1", WithChanges: true})
	projecttest.Apply(t)(p, err)
	projecttest.Holds(t, root, "api/v1/cronjob_types.go", "type Other struct", "type CronJobStatus struct", "!type CronJob struct", "!CronJobSpec", "!CronJobList")
	projecttest.Holds(t, root, "cmd/main.go", "batchv1.AddToScheme", "batchv1alpha1.AddToScheme")
}

// TestDeleteMovesHub: the version that --to names becomes the hub of those that are left, and is stored.
func TestDeleteMovesHub(t *testing.T) {
	root := newProject(t)
	projecttest.Apply(t)(create(root, "v1", "v1alpha1", true))
	projecttest.Apply(t)(create(root, "v2", "v1", true))
	p, err := remove(root, "v2", "")
	if text := refusal(t, p, err); !strings.Contains(text, "v1alpha1 or v1") || !strings.Contains(text, "--to v1alpha1") {
		t.Error(text)
	}
	projecttest.Apply(t)(remove(root, "v2", "v1alpha1"))
	projecttest.Holds(t, root, "api/v1alpha1/cronjob_conversion.go", "Hub()")
	projecttest.Holds(t, root, "api/v1/cronjob_conversion.go", "batchv1alpha1.CronJobSpec(src.Spec)", "the hub's version, v1alpha1.")
	projecttest.Holds(t, root, "api/v1alpha1/cronjob_types.go", "// +kubebuilder:storageversion\n")
	projecttest.Holds(t, root, "api/v1/cronjob_types.go", "!storageversion")
	projecttest.Holds(t, root, "internal/webhook/v1alpha1/cronjob_admission_test.go", "TestCronJobConversionToV1(", "!ToV1alpha1")
	projecttest.Holds(t, root, "internal/controller/cronjob_controller.go", "batchv1alpha1.CronJob", "!batchv1.")
	projecttest.Holds(t, root, "PROJECT", "    spoke:\n    - v1\n")
}

// TestDeleteOfSpoke: code that uses a version that is not the hub uses the hub then.
func TestDeleteOfSpoke(t *testing.T) {
	root := newProject(t)
	projecttest.Apply(t)(create(root, "v1", "v1alpha1", true))
	projecttest.Unpack(t, root, "-- internal/a/a.go --\npackage a\n\nimport old \"example.com/op/api/v1alpha1\"\n\nvar one old.CronJob\n\n// +kubebuilder:webhook:path=/a,groups=batch.example.com,resources=cronjobs,versions=v1;v1alpha1,name=a\n")
	types := projecttest.Read(t, root, "api/v1/cronjob_types.go")
	projecttest.Unpack(t, root, "-- api/v1/cronjob_types.go --\n"+strings.Replace(types, "// +kubebuilder:object:root=true\n", "// +kubebuilder:object:root=true\n// +kubebuilder:unservedversion\n", 1))
	p, err := remove(root, "v1alpha1", "")
	projecttest.Apply(t)(p, err)
	projecttest.Holds(t, root, "internal/a/a.go", `old "example.com/op/api/v1"`, "versions=v1,")
	projecttest.Holds(t, root, "cmd/main.go", "batchv1.AddToScheme", "!v1alpha1")
	projecttest.Holds(t, root, "api/v1/cronjob_types.go", "!storageversion")
	projecttest.Holds(t, root, "PROJECT", "!spoke", "!conversion", "!v1alpha1")
	if left := strings.Join(p.Left(), "\n"); !strings.Contains(left, "slipway migrate CronJob --to v1") || !strings.Contains(left, "keeps clusters from serving v1,") {
		t.Errorf("left is %s", left)
	}
}

// TestDeleteRenames: fields get the names of the version that stays, which the conversion shows or the flag names.
func TestDeleteRenames(t *testing.T) {
	root := newProject(t)
	projecttest.Unpack(t, root, "-- examples/one.yaml --\napiVersion: batch.example.com/v1alpha1\nkind: CronJob\nspec: {foo: a}\n")
	p, _, err := newversion.Create(fileview.Disk(root), newversion.Options{Group: "batch", Kind: "CronJob", Version: "v1", From: "v1alpha1", Storage: true, Rename: map[string]string{"foo": "bar"}})
	projecttest.Apply(t)(p, err)
	projecttest.Unpack(t, root, "-- internal/a/a.go --\npackage a\n\nimport \"example.com/op/api/v1\"\n\nfunc get(c *v1.CronJob) *string { return c.Spec.Bar }\n")
	del := func(rename map[string]string) (*plan.Plan, []fieldcopy.Renamed, error) {
		return newversion.Delete(fileview.Disk(root), newversion.Deletion{Group: "batch", Kind: "CronJob", Version: "v1", Rename: rename})
	}
	for old, now := range map[string]string{"no": "foo", "bar": "no"} {
		p, _, err := del(map[string]string{old: now})
		if text := refusal(t, p, err); !strings.Contains(text, "--rename "+old+"="+now) {
			t.Error(text)
		}
	}
	for _, rename := range []map[string]string{nil, {"bar": "foo"}} {
		p, renamed, err := del(rename)
		if err != nil || len(renamed) != 1 || renamed[0] != (fieldcopy.Renamed{Before: "Bar", After: "Foo"}) {
			t.Fatalf("%v, %v", renamed, err)
		}
		place := report.Position{File: "internal/a/a.go", Line: 5, Column: strings.Index("func get(c *v1alpha1.CronJob) *string { return c.Spec.Bar }", "Bar") + 1}
		if n, err := newversion.RenameUses(p, renamed, []report.Position{place}); n != 1 || err != nil {
			t.Errorf("%d uses, %v", n, err)
		}
		if rename != nil {
			projecttest.Apply(t)(p, err)
		}
	}
	projecttest.Holds(t, root, "internal/a/a.go", "c.Spec.Foo }")
	projecttest.Holds(t, root, "examples/one.yaml", "batch.example.com/v1alpha1\n", "{foo: a}")
}

// TestDeleteRefusals: what would lose code of the user, or has no version to take its place, changes nothing.
func TestDeleteRefusals(t *testing.T) {
	root := newProject(t)
	p, err := remove(root, "v1alpha1", "")
	if text := refusal(t, p, err); !strings.Contains(text, "the only version") || !strings.Contains(text, "slipway delete api") {
		t.Error(text)
	}
	projecttest.Apply(t)(create(root, "v1", "v1alpha1", true))
	p, err = remove(root, "v1", "v2")
	if text := refusal(t, p, err); !strings.Contains(text, "it has v1alpha1") {
		t.Error(text)
	}
	p, err = remove(root, "v1", "2")
	if text := refusal(t, p, err); !strings.Contains(text, "--to") {
		t.Error(text)
	}
	for name, text := range map[string]string{"api/v1/cronjob_types.go": "Foo *string", "api/v1alpha1/cronjob_conversion.go": "dst.ObjectMeta = src.ObjectMeta"} {
		src := projecttest.Read(t, root, name)
		projecttest.Unpack(t, root, "-- "+name+" --\n"+strings.Replace(src, text, "// mine\n"+text, 1))
		p, err := remove(root, "v1", "")
		if text := refusal(t, p, err); !strings.Contains(text, "\n"+name+"\n") || !strings.Contains(text, "--with-changes") {
			t.Error(text)
		}
		projecttest.Unpack(t, root, "-- "+name+" --\n"+src)
	}
}

// TestDeleteFromLists: a list of the kinds of a package goes on to register the others.
func TestDeleteFromLists(t *testing.T) {
	root := newProject(t)
	projecttest.Apply(t)(newapi.Create(fileview.Disk(root), newapi.Options{Group: "batch", Version: "v1alpha1", Kind: "Job", Resource: true, Namespaced: true}))
	projecttest.Apply(t)(create(root, "v1", "v1alpha1", true))
	p, _, err := newversion.Create(fileview.Disk(root), newversion.Options{Group: "batch", Kind: "Job", Version: "v1", From: "v1alpha1", Storage: true})
	projecttest.Apply(t)(p, err)
	info := projecttest.Read(t, root, "api/v1/groupversion_info.go")
	projecttest.Unpack(t, root, "-- api/v1/groupversion_info.go --\n"+info+"\nfunc add(s *runtime.Scheme) {\n\ts.AddKnownTypes(GroupVersion, &Job{}, &JobList{}, &CronJob{}, &CronJobList{})\n}\n")
	projecttest.Apply(t)(remove(root, "v1", ""))
	projecttest.Holds(t, root, "api/v1/groupversion_info.go", "s.AddKnownTypes(GroupVersion, &Job{}, &JobList{})", "!CronJob")
}
