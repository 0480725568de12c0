package helm

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRollout: an upgrade of the CronJob operator refuses no write through its webhooks, and an installed release
// takes writes at once. hack/writes writes until the pods of the first release are gone.
func TestRollout(t *testing.T) {
	if os.Getenv("SLIPWAY_NODE") == "" {
		t.Skip("SLIPWAY_NODE names no compiled program of real nodes")
	}
	p := project{t, filepath.Join(t.TempDir(), "op")}
	if err := os.CopyFS(p.root, os.DirFS(filepath.Join("..", "..", "examples", "cronjob"))); err != nil {
		t.Fatal(err)
	}
	p.call("edit", "--certs", "self")
	p.startCluster("--nodes", "real")
	for _, image := range []string{"cronjob:v1", "cronjob:v2"} {
		p.call("image", "build", "-t", image)
		p.call("image", "load", image)
	}
	c, r := p.chart(), releaseAt{"cronjob", "cronjob-system"}
	writes := p.writer()

	p.install(c, r, tagged("v1"))
	p.written(exec.Command(writes, slipway, "kubectl", "get", "namespaces"))

	pods := strings.Fields(p.call("kubectl", "get", "pods", "-n", r.namespace, "-o", "name"))
	writing := exec.Command(writes, append([]string{slipway, "kubectl", "wait", "-n", r.namespace, "--for=delete", "--timeout=2m"}, pods...)...)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.written(writing)
	}()
	p.upgrade(c, r, tagged("v2"))
	<-ended
}

// tagged are the values that choose the image of a tag.
func tagged(tag string) map[string]any {
	return map[string]any{"manager": map[string]any{"image": map[string]any{"repository": "cronjob", "tag": tag}}}
}

// writer builds hack/writes.
func (p project) writer() string {
	p.Helper()
	program := filepath.Join(p.TempDir(), "writes")
	if out, err := exec.Command("go", "build", "-C", filepath.Join("..", ".."), "-o", program, "./hack/writes").CombinedOutput(); err != nil {
		p.Fatalf("build hack/writes: %v\n%s", err, out)
	}
	return program
}

// written runs it: no write may fail.
func (p project) written(writing *exec.Cmd) {
	out, err := writing.CombinedOutput()
	if err != nil || !regexp.MustCompile(`(?m)^\d+ requests, 0 failures$`).Match(out) {
		p.Errorf("%v: %v\n%s", writing.Args, err, out)
	}
	p.Logf("%s", out)
}
