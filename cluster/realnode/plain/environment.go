package plain

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/cluster/realnode/cri"
)

const (
	// accountFolder is the folder of a pod's service account, a constant in client libraries.
	accountFolder = "/var/run/secrets/kubernetes.io/serviceaccount"
	keyMode       = 0o600
)

// environment returns a container's environment, adapted to this machine.
func (s *Starter) environment(c cri.Container, p paths) ([]string, error) {
	env := p.translateAll(c.Env)
	host, port, err := net.SplitHostPort(s.options.Server)
	if err != nil {
		return nil, fmt.Errorf("the API server's address: %w", err)
	}
	// The usual address is in the range of Services, which plain processes cannot reach.
	for _, v := range [][2]string{
		{"KUBERNETES_SERVICE_HOST", host}, {"KUBERNETES_SERVICE_PORT", port}, {"KUBERNETES_SERVICE_PORT_HTTPS", port},
	} {
		env = set(env, v[0], v[1])
	}
	if variable(env, "TMPDIR") == "" {
		env = set(env, "TMPDIR", p.temp(c.Dir))
	}
	if account, _, ok := p.mounted(accountFolder); ok && variable(env, "KUBECONFIG") == "" {
		file := filepath.Join(c.Dir, "kubeconfig")
		if err := s.writeKubeconfig(file, account.Source); err != nil {
			return nil, err
		}
		env = set(env, "KUBECONFIG", file)
	}
	return env, nil
}

// temp returns the folder for temporary files: the volume mounted on /tmp, or the container's own.
func (p paths) temp(dir string) string {
	if m, rest, ok := p.mounted("/tmp"); ok && rest == "" {
		return m.Source
	}
	return filepath.Join(dir, tempFolder)
}

// writeKubeconfig writes a kubeconfig for the service account in the folder account. It names the token's file, because
// the kubelet renews the token.
func (s *Starter) writeKubeconfig(file, account string) error {
	namespace, err := os.ReadFile(filepath.Join(account, "namespace"))
	if err != nil {
		return fmt.Errorf("read the pod's service account: %w", err)
	}
	named := func(name, kind string, value any) []any { return []any{map[string]any{"name": name, kind: value}} }
	const name = "pod"
	text, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": name,
		"clusters": named(name, "cluster", map[string]any{
			"server": "https://" + s.options.Server, "certificate-authority": filepath.Join(account, "ca.crt"),
		}),
		"users": named(name, "user", map[string]any{"tokenFile": filepath.Join(account, "token")}),
		"contexts": named(name, "context", map[string]any{
			"cluster": name, "user": name, "namespace": strings.TrimSpace(string(namespace)),
		}),
	})
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, text, keyMode); err != nil {
		return fmt.Errorf("write the pod's kubeconfig: %w", err)
	}
	return nil
}

func variable(env []string, name string) string {
	for _, e := range env {
		if value, ok := strings.CutPrefix(e, name+"="); ok {
			return value
		}
	}
	return ""
}

func set(env []string, name, value string) []string {
	for i, e := range env {
		if strings.HasPrefix(e, name+"=") {
			env[i] = name + "=" + value
			return env
		}
	}
	return append(env, name+"="+value)
}
