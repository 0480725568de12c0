// Copyright 2026 The fleet authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "example.com/fleet/api/fleet/v1"
	gpuv1beta1 "example.com/fleet/api/gpu/v1beta1"
)

// hostile is a kubeconfig whose user runs a program.
const hostile = `apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: touch, args: [MARKER], interactiveMode: Never}}}]
`

// A kubeconfig that runs a program, reads a file or is none is reported, and nothing is run for it. The package
// kubeconfig tries each field.
func TestRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	o := f.start()
	marker := filepath.Join(t.TempDir(), "ran")
	program := strings.Replace(hostile, "MARKER", marker, 1)
	user := program[strings.Index(program, "user: {exec"):]
	for name, test := range map[string]struct{ text, reason, says string }{
		"exec":  {program, fleetv1.ReasonKubeconfigRefused, "exec"},
		"file":  {strings.Replace(program, user, "user: {tokenFile: /etc/hostname}}]\n", 1), fleetv1.ReasonKubeconfigRefused, "tokenFile"},
		"none":  {"hello", fleetv1.ReasonKubeconfigInvalid, "no kubeconfig"},
		"empty": {strings.Replace(program, user, "user: {}}]\n", 1), fleetv1.ReasonKubeconfigInvalid, "neither a token"},
	} {
		c := f.join(name, []byte(test.text))
		if ready := f.waitFor(c, test.reason); !strings.Contains(ready.Message, test.says) || ready.Status != metav1.ConditionFalse {
			t.Errorf("%s: %s %q", name, ready.Status, ready.Message)
		}
		f.wantEvent(c, test.reason)
		f.account.AtRest(t, o.pass(c))
		if n := goroutines(t, c); n > 0 {
			t.Errorf("%s: %d goroutines", name, n)
		}
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("the program ran")
	}
}

// A Secret of another type is not read: it is not in the cache.
func TestOtherSecret(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	c := f.cluster("other")
	secret := f.secret("other", []byte(hostile))
	secret.Type = corev1.SecretTypeOpaque
	f.create(secret, c)
	f.waitFor(c, fleetv1.ReasonSecretMissing)
	f.delete(secret)
	f.create(f.secret("other", []byte(hostile)))
	f.waitFor(c, fleetv1.ReasonKubeconfigRefused)
}

// What users of kubectl see, and what is refused.
func TestKubectl(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	c := f.cluster("seen")
	i := &gpuv1beta1.VGPUInstance{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "one"}, Spec: gpuv1beta1.VGPUInstanceSpec{Model: "a100", MemoryGiB: 10}}
	f.create(c, i)
	f.waitFor(c, fleetv1.ReasonSecretMissing)
	f.wantOutput("NAME READY REASON INSTANCES AGE seen False SecretMissing", "get", "fleet")
	f.wantOutput("NAME READY REASON INSTANCES MESSAGE AGE seen False SecretMissing There is no Secret seen", "get", "member", "--output=wide")
	f.wantOutput("NAME MODEL GIB CLUSTER REGION AGE one a100 10", "get", "vgpu")
	f.wantOutput("", "explain", "cluster.spec.kubeconfigSecret.key", "--api-version=fleet.my.domain/v1")
	for _, test := range []struct{ object, patch, want string }{
		{"member/seen", `{"spec":{"kubeconfigSecret":{"name":""}}}`, "spec.kubeconfigSecret.name in body should be at least 1 chars long"},
		{"member/seen", `{"spec":{"kubeconfigSecret":{"key":""}}}`, "spec.kubeconfigSecret.key in body should be at least 1 chars long"},
		{"member/seen", `{"spec":{"kubeconfigSecret":null}}`, "spec.kubeconfigSecret: Required value"},
		{"vgpu/one", `{"spec":{"model":"A 100"}}`, "spec.model in body should match"},
		{"vgpu/one", `{"spec":{"memoryGiB":0}}`, "spec.memoryGiB in body should be greater than or equal to 1"},
		{"vgpu/one", `{"spec":{"memoryGiB":193}}`, "spec.memoryGiB in body should be less than or equal to 192"},
	} {
		_, err := hub.Cluster(t).Kubectl(t, "patch", test.object, "--namespace", f.namespace, "--type=merge", "--patch", test.patch)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.patch, err, test.want)
		}
	}
}

// wantOutput checks the words that kubectl prints first.
func (f *fixture) wantOutput(words string, args ...string) {
	f.Helper()
	out, err := hub.Cluster(f.T).Kubectl(f.T, append(args, "--namespace", f.namespace)...)
	want, got := strings.Fields(words), strings.Fields(out)
	if err != nil || len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
		f.Errorf("kubectl %q prints %q, %v", args, out, err)
	}
}
