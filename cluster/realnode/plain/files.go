package plain

import (
	"path/filepath"

	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
)

// linksFolder is where kubelets link logs from, for programs that collect them. On this machine it may be that of
// another kubelet.
const linksFolder = "/var/log/containers"

// Files are the kubelet's operations on files, without those on links to logs.
type Files struct{ kubecontainer.RealOS }

var _ kubecontainer.OSInterface = Files{}

// Symlink makes none: the kubelet makes no others.
func (Files) Symlink(string, string) error { return nil }

// Remove leaves links to logs alone.
func (f Files) Remove(path string) error {
	if filepath.Dir(path) == linksFolder {
		return nil
	}
	return f.RealOS.Remove(path)
}

// Glob finds no links to logs.
func (f Files) Glob(pattern string) ([]string, error) {
	if filepath.Dir(pattern) == linksFolder {
		return nil, nil
	}
	return f.RealOS.Glob(pattern)
}
