package testlimit

import (
	"fmt"
	"os"
	"path/filepath"
)

// kuberc has commands of kubectl wait that do not say how long. See
// https://kubernetes.io/docs/reference/kubectl/kuberc/.
const kuberc = `apiVersion: kubectl.config.k8s.io/v1beta1
kind: Preference
defaults:
- command: wait
  options:
  - name: timeout
    default: %[1]s
- command: rollout status
  options:
  - name: timeout
    default: %[1]s
`

// Environment returns variables that have programs wait as long as tests do: envtest for a control plane to start and
// stop (20 seconds otherwise), and kubectl for what it is to wait for (30 seconds). It writes a file into a folder,
// which it makes, and to which a variable points.
func Environment(dir string) ([]string, error) {
	file := filepath.Join(dir, "kuberc")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return []string{
		"KUBERC=" + file,
		"KUBEBUILDER_CONTROLPLANE_START_TIMEOUT=" + Hang.String(),
		"KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT=" + Hang.String(),
	}, os.WriteFile(file, fmt.Appendf(nil, kuberc, Hang), 0o600)
}
