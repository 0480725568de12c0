// Copyright 2026 The fleet authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// A program is a cluster program of its own, with data on disk: it can be stopped, and is then started again at the
// same address.
type program struct {
	dir  string
	port int
	user client.Client
	stop func()
}

func newProgram(t *testing.T) *program {
	t.Helper()
	p := &program{dir: filepath.Join(t.TempDir(), "cluster")}
	if err := os.Mkdir(p.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	p.start(t)
	config, err := clientcmd.RESTConfigFromKubeConfig(p.kubeconfig(t))
	if err != nil {
		t.Fatal(err)
	}
	p.user = administrator(t, config)
	return p
}

// kubeconfig is the administrator's.
func (p *program) kubeconfig(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// start starts the program, and returns when the cluster is ready.
func (p *program) start(t *testing.T) {
	t.Helper()
	config := filepath.Join(t.TempDir(), "config.json")
	text := fmt.Sprintf(`{"protocol":3,"name":"tower","dir":%q,"port":%d,"durable":true,"nodes":[],"controllers":false}`, p.dir, p.port)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Getenv("SLIPWAY_CLUSTER"), "serve", "--config", config, "--stdio")
	life, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	events, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.stop = func() { _, _ = life.Close(), cmd.Wait() }
	t.Cleanup(p.stop)
	p.port = readyPort(t, events)
	go func() { _, _ = io.Copy(io.Discard, events) }()
}

// readyPort reads events until the cluster is ready, and returns the API server's port.
func readyPort(t *testing.T, events io.Reader) int {
	t.Helper()
	lines := bufio.NewScanner(events)
	for lines.Scan() {
		var e struct{ Event, Server, Error string }
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil || e.Event == "failed" {
			t.Fatalf("the cluster program: %s: %v", lines.Bytes(), err)
		}
		if e.Event != "ready" {
			continue
		}
		server, err := url.Parse(e.Server)
		if err != nil {
			t.Fatal(err)
		}
		port, err := strconv.Atoi(server.Port())
		if err != nil {
			t.Fatal(err)
		}
		return port
	}
	t.Fatalf("the cluster program ended: %v", lines.Err())
	return 0
}

// install has the cluster serve VGPUInstances.
func (p *program) install(t *testing.T) {
	t.Helper()
	data, err := os.ReadFile("../../../config/crd/bases/gpu.my.domain_vgpuinstances.yaml")
	if err != nil {
		t.Fatal(err)
	}
	crd := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(data, &crd.Object); err != nil {
		t.Fatal(err)
	}
	create(t, p.user, crd)
}
