package simnode_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// built is where the tests build the program when they have to.
var built string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if built, err = os.MkdirTemp("", "slipway-node-test"); err != nil {
			panic(err)
		}
		defer os.RemoveAll(built)
		return m.Run()
	}())
}

// program is the built slipway-cluster: the one that SLIPWAY_CLUSTER names, else one that is built now.
var program = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("SLIPWAY_CLUSTER"); path != "" {
		return path, nil
	}
	path := filepath.Join(built, "slipway-cluster")
	out, err := exec.Command("go", "build", "-o", path, "../cmd/slipway-cluster").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build slipway-cluster: %w\n%s", err, out)
	}
	return path, nil
})

// startCluster starts a cluster without controllers and nodes, which ends with the test.
func startCluster(t *testing.T) *rest.Config {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "config.json")
	text := fmt.Sprintf(`{"protocol": 3, "name": "node-test", "dir": %q, "nodes": [], "controllers": false}`, filepath.Join(dir, "state"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "serve", "--config", config, "--stdio")
	cmd.Stderr = t.Output()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	events := bufio.NewReader(stdout)
	t.Cleanup(func() {
		_ = stdin.Close() // ends the cluster
		_, _ = io.Copy(io.Discard, events)
		if err := cmd.Wait(); err != nil {
			t.Errorf("slipway-cluster: %v", err)
		}
	})
	kubeconfig, err := awaitReady(events)
	if err != nil {
		t.Fatal(err)
	}
	result, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	result.QPS = -1
	return result
}

// awaitReady reads events until the cluster is ready and returns its kubeconfig's path.
func awaitReady(events io.Reader) (string, error) {
	decoder := json.NewDecoder(events)
	for {
		var event struct{ Event, Kubeconfig, Component, Error string }
		if err := decoder.Decode(&event); err != nil {
			return "", fmt.Errorf("slipway-cluster ended before it was ready: %w", err)
		}
		switch event.Event {
		case "ready":
			return event.Kubeconfig, nil
		case "failed":
			return "", errors.New(event.Component + ": " + event.Error)
		}
	}
}
