package scaffold

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
)

// drawWebhook makes one of the webhooks that a project may have.
func drawWebhook(random *rand.Rand, apis []API) Webhook {
	w := Webhook{Defaulting: random.IntN(2) > 0, Validation: random.IntN(2) > 0, Conversion: random.IntN(3) == 0}
	switch random.IntN(5) {
	case 0:
		w.Group, w.Version, w.Kind, w.Conversion = "core", "v1", "Pod", false
	case 1:
		w.Group, w.Version, w.Kind, w.Conversion = "apps", "v1", "Deployment", false
	default:
		api := apis[random.IntN(len(apis))]
		w.Group, w.Version, w.Kind = api.Group, api.Version, api.Kind
	}
	if w.Defaulting && random.IntN(3) == 0 {
		w.DefaultingPath = "/own-path"
	}
	return w
}

func webhookDeletion(w Webhook) WebhookDeletion {
	return WebhookDeletion{Options: Deletion{Group: w.Group, Version: w.Version, Kind: w.Kind}, Defaulting: w.Defaulting, Validation: w.Validation, Conversion: w.Conversion}
}

// TestDeleteUndoesCreateWebhook: webhooks that are created and deleted leave every byte as
// it was, whatever other webhooks there are; so does an API that is deleted with its own.
func TestDeleteUndoesCreateWebhook(t *testing.T) {
	t.Parallel()
	tried, undone := seeds(), 0
	for _, seed := range tried {
		random := rand.New(rand.NewPCG(seed, 3))
		multigroup := random.IntN(2) > 0
		root := newProject(t, Project{MultiGroup: multigroup})
		fresh := tree(t, root)
		v1, v2 := cronJob(), cronJob()
		v2.Version, v2.Controller = "v2", false
		backup := cronJob()
		backup.Kind = "Backup"
		apis := []API{v1, v2, backup}
		for _, api := range apis {
			apply(t)(CreateAPI(fileview.Disk(root), api))
		}
		var made []Webhook
		for range 5 {
			w := drawWebhook(random, apis)
			before := tree(t, root)
			plan, err := CreateWebhook(fileview.Disk(root), w)
			if err != nil {
				continue // none at all, twice the same, two hubs, or nothing to convert
			}
			must(t, plan.Apply(report.Discard))
			if random.IntN(3) == 0 || overlaps(w, made) {
				made = append(made, w)
				continue
			}
			apply(t)(DeleteWebhook(fileview.Disk(root), webhookDeletion(w)))
			if diff := treeDiff(before, tree(t, root)); diff != "" {
				t.Fatalf("seed %d: %+v after %+v: %s", seed, w, made, diff)
			}
			checkCompiles(t, root)
			undone++
		}
		for _, w := range made {
			d := webhookDeletion(w)
			d.Defaulting, d.Validation, d.Conversion = false, false, false
			plan, err := DeleteWebhook(fileview.Disk(root), d)
			if err == nil && plan.Empty() {
				continue // went with another one of the kind
			}
			apply(t)(plan, err)
			checkCompiles(t, root)
		}
		random.Shuffle(len(apis), func(i, j int) { apis[i], apis[j] = apis[j], apis[i] })
		for _, api := range apis {
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

// overlaps reports whether the kind has some of these webhooks already: creating them adds
// the others, and deleting them takes away more than that.
func overlaps(w Webhook, made []Webhook) bool {
	for _, m := range made {
		if m.Group == w.Group && m.Version == w.Version && m.Kind == w.Kind {
			return true
		}
	}
	return false
}

// TestDeleteSpoke: a version that goes takes along what converts it, and with the last one conversion itself goes.
func TestDeleteSpoke(t *testing.T) {
	version := func(v string) API {
		api := cronJob()
		api.Version, api.Controller = v, v == "v1"
		return api
	}
	root := newProject(t, Project{})
	apply(t)(CreateAPI(fileview.Disk(root), version("v1")))
	apply(t)(CreateWebhook(fileview.Disk(root), Webhook{Group: "batch", Version: "v1", Kind: "CronJob", Defaulting: true}))
	alone := tree(t, root)
	for _, v := range []string{"v2", "v3"} {
		apply(t)(CreateAPI(fileview.Disk(root), version(v)))
	}
	apply(t)(CreateWebhook(fileview.Disk(root), Webhook{Group: "batch", Version: "v1", Kind: "CronJob", Conversion: true}))
	apply(t)(DeleteAPI(fileview.Disk(root), deletionOf(version("v3"))))
	checkCompiles(t, root)
	if file := read(t, root, "PROJECT"); !strings.Contains(file, "- v2") || strings.Contains(file, "v3") {
		t.Errorf("without v3, PROJECT is\n%s", file)
	}
	apply(t)(DeleteAPI(fileview.Disk(root), deletionOf(version("v2"))))
	if diff := treeDiff(alone, tree(t, root)); diff != "" {
		t.Errorf("without v2: %s", diff)
	}
}

// TestDeleteKeepsChangedConversion: code of a conversion that somebody has changed keeps what it needs, so that the
// project still builds, and its kind's stored version stays marked.
func TestDeleteKeepsChangedConversion(t *testing.T) {
	spoke := cronJob()
	spoke.Version, spoke.Controller = "v2", false
	verbs := map[string]func(root string) (*Plan, error){
		"delete webhook": func(root string) (*Plan, error) {
			return DeleteWebhook(fileview.Disk(root), webhookDeletion(Webhook{Group: "batch", Version: "v1", Kind: "CronJob", Conversion: true}))
		},
		"delete api": func(root string) (*Plan, error) { return DeleteAPI(fileview.Disk(root), deletionOf(spoke)) },
	}
	for name, verb := range verbs {
		for _, changed := range []string{"api/v2/cronjob_conversion.go", "api/v2/cronjob_conversion_test.go"} {
			t.Run(name+" "+changed, func(t *testing.T) {
				root := newProject(t, Project{})
				apply(t)(CreateAPI(fileview.Disk(root), cronJob()))
				apply(t)(CreateAPI(fileview.Disk(root), spoke))
				apply(t)(CreateWebhook(fileview.Disk(root), Webhook{Group: "batch", Version: "v1", Kind: "CronJob", Conversion: true}))
				must(t, os.WriteFile(filepath.Join(root, changed), []byte(read(t, root, changed)+"\n// mine\n"), 0o644))
				apply(t)(verb(root))
				for _, kept := range []string{changed, "api/v2/cronjob_conversion.go", "api/v1/cronjob_conversion.go"} {
					read(t, root, kept)
				}
				if !strings.Contains(read(t, root, "api/v1/cronjob_types.go"), "+kubebuilder:storageversion") {
					t.Error("no version is stored")
				}
			})
		}
	}
}
