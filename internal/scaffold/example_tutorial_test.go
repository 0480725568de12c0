package scaffold

import (
	"os"
	"path/filepath"
	"testing"
)

// followTutorial adds webhooks, a second version and conversion to the example, in the order of docs/cronjob-tutorial.md:
// conversion is made from the types that the example's author has written.
func followTutorial(t *testing.T, root string) {
	t.Helper()
	apply(t)(CreateWebhook(root, Webhook{Group: "batch", Version: "v1", Kind: "CronJob", Defaulting: true, Validation: true}))
	v2 := cronJob()
	v2.Version, v2.Controller = "v2", false
	apply(t)(CreateAPI(root, v2))
	for _, types := range []string{"api/v1/cronjob_types.go", "api/v2/cronjob_types.go"} {
		data, err := os.ReadFile(filepath.Join(exampleDir, types))
		if err == nil {
			err = os.WriteFile(filepath.Join(root, types), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	apply(t)(CreateWebhook(root, Webhook{Group: "batch", Version: "v1", Kind: "CronJob", Conversion: true}))
}
