package othertools_test

import (
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/othertools"
)

// TestFor: the answer has the user's own names, as far as a shell takes them as they are.
func TestFor(t *testing.T) {
	for typed, want := range map[string]string{
		"kind load docker-image op:v1":                                     "slipway image load op:v1",
		"kind load docker-image op:v1 --name harbour":                      "slipway image load op:v1 --cluster harbour",
		"cluster load docker-image ex.org/op:v1 -n a":                      "slipway image load ex.org/op:v1 --cluster a",
		"kind load docker-image":                                           "slipway image load controller:latest",
		"kind load docker-image $(reboot)":                                 "slipway image load controller:latest",
		"kind load docker-image --name=a":                                  "slipway image load controller:latest --cluster a",
		"kind load docker-image op:v1 --name a;b":                          "slipway image load op:v1",
		"kind load image-archive dir/op.tar":                               "slipway image load dir/op.tar",
		"kind create cluster --name x":                                     "slipway cluster start --cluster x",
		"kind get clusters --name x":                                       "slipway cluster list",
		"docker build -t op:v1 .":                                          "slipway image build -t op:v1",
		"docker buildx build --tag=op:v1 --platform all .":                 "slipway image build -t op:v1 --platform linux/amd64,linux/arm64",
		"docker build .":                                                   "slipway image build -t NAME",
		"docker push ex.org/op:v1":                                         "slipway image push ex.org/op:v1",
		"docker-build IMG=a/b:v1":                                          "slipway image build -t a/b:v1",
		"make docker-push IMG=a/b:v1":                                      "slipway image push a/b:v1",
		"make docker-buildx IMG=a/b:v1":                                    "slipway image build -t a/b:v1 --platform linux/amd64,linux/arm64",
		"make deploy IMG=a/b:v1":                                           "slipway deploy --image a/b:v1",
		"make deploy IMG=:v1":                                              "slipway deploy",
		"make deploy":                                                      "slipway deploy",
		"build-installer IMG=a/b:v1":                                       "slipway deploy --print --image a/b:v1",
		"kind create cluster --config hack/k.yaml":                         "slipway cluster start --config hack/k.yaml",
		"kubebuilder create api --group batch --version=v1 --kind CronJob": "slipway create api --group batch --version=v1 --kind CronJob",
		"kubebuilder create webhook --group a --kind B --defaulting":       "slipway create webhook --group a --kind B --defaulting",
		"kubebuilder create api --group $(reboot)":                         "slipway create api",
		"create api --plugins deploy-image/v1-alpha --group a --image x:1": "slipway create api --plugins deploy-image/v1-alpha --group a --image x:1",
		"create api --plugins deploy-image/v1-alpha":                       "slipway create api --plugins deploy-image/v1-alpha",
		"kubebuilder init --domain my.domain":                              "slipway init --domain my.domain",
		"make manifests":                                                   "slipway generate",
	} {
		words := strings.Fields(typed)
		c, ok := othertools.Lookup(words)
		if got := c.For(words); !ok || got != want {
			t.Errorf("%s: %q, want %q", typed, got, want)
		}
	}
}
