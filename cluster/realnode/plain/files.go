package plain

import (
	"path/filepath"

	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
)

// linksFolder is the folder in which kubelets link logs for log collectors. On this machine another kubelet may own it.
const linksFolder = "/var/log/containers"

// Files are the kubelet's file operations, without links to logs.
type Files struct{ kubecontainer.RealOS }

var _ kubecontainer.OSInterface = Files{}

// Symlink does nothing: the kubelet makes links to logs only.
func (Files) Symlink(string, string) error { return nil }

// Remove removes path, unless it is a link to a log.
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
