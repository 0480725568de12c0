package ship

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestUntrusted(t *testing.T) {
	for name, test := range map[string]struct {
		object string
		want   []string
	}{
		"no webhook":                   {"kind: ConfigMap", nil},
		"by URL":                       {"kind: ValidatingWebhookConfiguration\nwebhooks: [{name: a, clientConfig: {url: 'https://127.0.0.1'}}]", nil},
		"trusted":                      {"kind: MutatingWebhookConfiguration\nwebhooks: [{name: a, clientConfig: {service: {name: s}, caBundle: QQ==}}]", nil},
		"one of two":                   {"kind: MutatingWebhookConfiguration\nwebhooks: [{clientConfig: {service: {name: s}, caBundle: QQ==}}, {clientConfig: {service: {name: t}}}]", []string{"t"}},
		"conversion":                   {"kind: CustomResourceDefinition\nspec: {versions: [{name: v1}, {name: v2}], conversion: {strategy: Webhook, webhook: {clientConfig: {service: {name: s}}}}}", []string{"s"}},
		"conversion of one version":    {"kind: CustomResourceDefinition\nspec: {versions: [{name: v1}], conversion: {strategy: Webhook, webhook: {clientConfig: {service: {name: s}}}}}", nil},
		"no conversion":                {"kind: CustomResourceDefinition\nspec: {conversion: {strategy: None}}", nil},
		"another kind with that field": {"kind: Thing\nwebhooks: [{clientConfig: {service: {name: s}}}]", nil},
	} {
		t.Run(name, func(t *testing.T) {
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(test.object), &object.Object); err != nil {
				t.Fatal(err)
			}
			if got := untrusted(object); !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
