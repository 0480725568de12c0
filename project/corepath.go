package project

// CorePath is the import path of the Go types of one of Kubernetes' own groups.
func CorePath(group, version string) string {
	if group == "apiextensions" {
		return "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/" + version
	}
	return "k8s.io/api/" + group + "/" + version
}
