package rbac

import "testing"

func TestRoleName(t *testing.T) {
	for content, want := range map[string]string{
		"": "",
		"---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: manager-role\nrules: []\n": "manager-role",
		"kind: ClusterRole\r\nmetadata:\r\n  labels:\r\n    name: other\r\n  name: \"system:op\" # ours\r\n":             "system:op",
		"kind: ServiceAccount\nmetadata:\n  name: a\n---\nkind: ClusterRole\nmetadata: {name: b}\n":                      "b",
		"kind: Role\nmetadata:\n  name: a\nClusterRole: none\n":                                                          "",
		"kind: ClusterRole\nmetadata:\n  name: \"a,year=1\"\n---\nkind: ClusterRole\nmetadata:\n  name: b\n":             "b",
		"kind: ClusterRole\nmetadata: [\n": "",
	} {
		if got := RoleName([]byte(content)); got != want {
			t.Errorf("%q has the role %q, not %q", content, got, want)
		}
	}
}
