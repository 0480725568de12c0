package newversion_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/deletion"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newversion"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newwebhook"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
)

const (
	setUp    = "internal/webhook/v1/cronjob_webhook.go"
	oldPaths = "internal/webhook/v1/cronjob_v1alpha1_webhook.go"
)

func removeWebhook(root string, d deletion.WebhookOptions) (*plan.Plan, error) {
	d.Group, d.Version, d.Kind = "batch", "v1", "CronJob"
	return deletion.Webhook(fileview.Disk(root), d)
}

// renamed has the names of webhooks follow the version, as in a project without a version before: then a webhook that
// goes is as slipway would write it.
func renamed(t *testing.T, root string) {
	t.Helper()
	projecttest.Unpack(t, root, "-- "+setUp+" --\n"+strings.ReplaceAll(projecttest.Read(t, root, setUp), "cronjob-v1alpha1.kb.io", "cronjob-v1.kb.io"))
}

// gone fails the test if anything answers at old paths.
func gone(t *testing.T, root string) {
	t.Helper()
	for name, text := range projecttest.Tree(t, root) {
		if strings.Contains(string(text), "setupCronJobV1alpha1Webhooks") {
			t.Errorf("%s answers at old paths", name)
		}
	}
}

// TestOldPathsGo: webhooks answer at old paths as long as they, the old version and the conversion exist.
func TestOldPathsGo(t *testing.T) {
	for name, goes := range map[string]func(root string) (*plan.Plan, error){
		"the old version": func(root string) (*plan.Plan, error) { return remove(root, "v1alpha1", "") },
		"its API": func(root string) (*plan.Plan, error) {
			return deletion.API(fileview.Disk(root), deletion.Options{Group: "batch", Version: "v1alpha1", Kind: "CronJob"})
		},
		"the webhooks": func(root string) (*plan.Plan, error) { return removeWebhook(root, deletion.WebhookOptions{}) },
		"the conversion": func(root string) (*plan.Plan, error) {
			return removeWebhook(root, deletion.WebhookOptions{Conversion: true})
		},
		"both webhooks": func(root string) (*plan.Plan, error) {
			return removeWebhook(root, deletion.WebhookOptions{Defaulting: true, Validation: true})
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := newProject(t)
			projecttest.Apply(t)(create(root, "v1", "v1alpha1", true))
			projecttest.Read(t, root, oldPaths)
			renamed(t, root)
			projecttest.Apply(t)(goes(root))
			gone(t, root)
		})
	}
}

// TestOldPathsOfOne: one webhook goes, and the other one answers at both paths. What comes again has no old path.
func TestOldPathsOfOne(t *testing.T) {
	root := newProject(t)
	projecttest.Apply(t)(create(root, "v1", "v1alpha1", true))
	renamed(t, root)
	projecttest.Apply(t)(removeWebhook(root, deletion.WebhookOptions{Defaulting: true}))
	projecttest.Holds(t, root, setUp, "setupCronJobV1alpha1Webhooks(mgr, nil, &CronJobValidator{})")
	projecttest.Read(t, root, oldPaths)
	before := projecttest.Read(t, root, setUp)
	projecttest.Apply(t)(newwebhook.Create(fileview.Disk(root), newwebhook.Options{Group: "batch", Version: "v1", Kind: "CronJob", Defaulting: true}))
	projecttest.Holds(t, root, setUp, "setupCronJobV1alpha1Webhooks(mgr, nil, &CronJobValidator{})")
	projecttest.Apply(t)(removeWebhook(root, deletion.WebhookOptions{Defaulting: true}))
	if diff := cmp.Diff(before, projecttest.Read(t, root, setUp)); diff != "" {
		t.Error(diff)
	}
	projecttest.Apply(t)(removeWebhook(root, deletion.WebhookOptions{Validation: true}))
	gone(t, root)
}

// TestOldPathsWithChanges: code of the user is refused to go with a version, unless that is wanted.
func TestOldPathsWithChanges(t *testing.T) {
	for _, version := range []string{"v1", "v1alpha1"} {
		root := newProject(t)
		projecttest.Apply(t)(create(root, "v1", "v1alpha1", true))
		projecttest.Unpack(t, root, "-- "+oldPaths+" --\n"+projecttest.Read(t, root, oldPaths)+"\n// mine\n")
		p, err := remove(root, version, "")
		if text := refusal(t, p, err); !strings.Contains(text, oldPaths) || !strings.Contains(text, "--with-changes") {
			t.Error(text)
		}
		p, _, err = newversion.Delete(fileview.Disk(root), newversion.Deletion{Group: "batch", Kind: "CronJob", Version: version, WithChanges: true})
		projecttest.Apply(t)(p, err)
		gone(t, root)
	}
}

// TestOldPathsLeft: code of another form stays as it is, and its place is left to the user. Paths of their own do not
// move.
func TestOldPathsLeft(t *testing.T) {
	for _, test := range []struct{ name, chain, left string }{
		{"another form", "\tb := ctrl.NewWebhookManagedBy(mgr, &batchv1alpha1.CronJob{})\n\treturn b.WithDefaulter(&CronJobDefaulter{}).Complete()\n", setUp + ":28: "},
		{"own paths", "\treturn ctrl.NewWebhookManagedBy(mgr, &batchv1alpha1.CronJob{}).WithDefaulter(&CronJobDefaulter{}).WithDefaulterCustomPath(\"/d\").Complete()\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := newProject(t)
			const old = "internal/webhook/v1alpha1/cronjob_webhook.go"
			src := projecttest.Read(t, root, old)
			from := strings.Index(src, "\treturn ctrl.New")
			to := from + strings.Index(src[from:], "}\n\n")
			projecttest.Unpack(t, root, "-- "+old+" --\n"+src[:from]+test.chain+src[to:])
			p, err := create(root, "v1", "v1alpha1", true)
			projecttest.Apply(t)(p, err)
			gone(t, root)
			left := strings.Join(p.Left(), "\n")
			if test.left == "" && left != "" || !strings.HasPrefix(left, test.left) {
				t.Errorf("left is %q", left)
			}
		})
	}
}

// TestOldPathsOfOlderRuntime: the form of webhooks follows from the project's controller-runtime.
func TestOldPathsOfOlderRuntime(t *testing.T) {
	root := newProject(t)
	mod := projecttest.Read(t, root, "go.mod")
	at := strings.Index(mod, "sigs.k8s.io/controller-runtime v")
	end := at + strings.Index(mod[at:], "\n")
	projecttest.Unpack(t, root, "-- go.mod --\n"+mod[:at]+"sigs.k8s.io/controller-runtime v0.20.4"+mod[end:])
	projecttest.Apply(t)(create(root, "v1", "v1alpha1", true))
	projecttest.Holds(t, root, oldPaths, "admission.CustomDefaulter", "ctrl.NewWebhookManagedBy(mgr).For(&batchv1alpha1.CronJob{})", "obj.(*batchv1alpha1.CronJob)")
}

// TestOldPathsExact: webhooks that get objects of their versions alone get those of the old version at its paths.
func TestOldPathsExact(t *testing.T) {
	root := newProject(t)
	const old = "internal/webhook/v1alpha1/cronjob_webhook.go"
	projecttest.Unpack(t, root, "-- "+old+" --\n"+strings.Replace(projecttest.Read(t, root, old), "versions=v1alpha1,", "versions=v1alpha1,matchPolicy=Exact,", 1))
	before := contents(t, root)
	projecttest.Apply(t)(create(root, "v1", "v1alpha1", true))
	projecttest.Holds(t, root, setUp, "v1-cronjob,mutating=true", "versions=v1,matchPolicy=Exact,name=mcronjob-v1.kb.io,", "name=vcronjob-v1alpha1.kb.io,")
	projecttest.Holds(t, root, oldPaths, "\n// +kubebuilder:webhook:path=/mutate-batch-example-com-v1alpha1-cronjob,", "versions=v1alpha1,matchPolicy=Exact,name=mcronjob-v1alpha1.kb.io,", "!validate-batch")
	one := contents(t, root)
	projecttest.Apply(t)(create(root, "v2", "v1", true))
	projecttest.Holds(t, root, "internal/webhook/v2/cronjob_v1alpha1_webhook.go", "versions=v1alpha1,matchPolicy=Exact,name=mcronjob-v1alpha1.kb.io,")
	projecttest.Holds(t, root, "internal/webhook/v2/cronjob_v1_webhook.go", "versions=v1,matchPolicy=Exact,name=mcronjob-v1.kb.io,")
	projecttest.Apply(t)(remove(root, "v2", "v1"))
	if diff := cmp.Diff(one, contents(t, root)); diff != "" {
		t.Error(diff)
	}
	projecttest.Apply(t)(remove(root, "v1", ""))
	if diff := cmp.Diff(before, contents(t, root)); diff != "" {
		t.Error(diff)
	}
}
