package ship

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestOlderImage: signs in a log that the image is older than the configuration, and none where the configuration does
// not ask for it.
func TestOlderImage(t *testing.T) {
	self := corev1.Container{Image: "op:v1", Args: []string{"--leader-elect", "--warm-up=true"}, Env: []corev1.EnvVar{{Name: "CERTIFICATE_DIR", Value: "/certs"}}}
	for _, test := range []struct {
		name      string
		container corev1.Container
		log       string
		want      string
	}{
		{"a flag", self, "flag provided but not defined: -warm-up\nUsage of /manager:", "image op:v1 has no flag --warm-up"},
		{"a flag that is not given", self, "flag provided but not defined: -other", ""},
		{"a certificate that is not issued yet", self, `{"error":"open /certs/tls.crt: no such file or directory"}`, ""},
		{"something else", self, "connection refused", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := olderImage(test.container, strings.Split(test.log, "\n"))
			if got == "" != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("got %q", got)
			}
		})
	}
}
