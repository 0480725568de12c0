package prove

import (
	"path/filepath"
	"testing"
)

// examples are the operators under examples/ with the flags of their proofs. Of the others, mycronjob never comes to
// rest, since it starts a Job every five seconds, and podannotator writes nothing by itself.
var examples = map[string][]string{
	"apiexample":        nil,
	"app":               nil,
	"cronjob":           {"-f", "prove/yearly.yaml"},
	"democrd":           nil,
	"fleet":             nil,
	"guestbook":         nil,
	"ingress-manager":   {"-f", "prove/shop.yaml"},
	"pipeline":          nil,
	"rediscluster":      nil,
	"sample-controller": {"-f", "prove/foo.yaml"},
	"toy":               nil,
}

// TestExamples: nothing is found in the operators of the examples.
func TestExamples(t *testing.T) {
	needCluster(t)
	for name, flags := range examples {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("..", "..", "examples", name)
			if name == "ingress-manager" || name == "sample-controller" { // their scenarios name a compiled program
				if err := build(dir, filepath.Join("bin", name), "."); err != nil {
					t.Fatal(err)
				}
			}
			r, code := proveIn(t, dir, flags...)
			r.isCorrect(t, code)
		})
	}
}
