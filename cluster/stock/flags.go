package stock

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// removedFlags are flags that kube-apiserver once had, which older projects and tutorials pass, and what does their
// work today.
var removedFlags = map[string]string{
	"address":           "the insecure port was removed; use --bind-address and --secure-port",
	"basic-auth-file":   "use --token-auth-file or client certificates",
	"cloud-config":      "cloud providers run outside Kubernetes",
	"cloud-provider":    "cloud providers run outside Kubernetes",
	"enable-swagger-ui": "/openapi/v2 and /openapi/v3 describe the API",
	"etcd-quorum-read":  "reads are always consistent",
	"experimental-encryption-provider-config": "use --encryption-provider-config",
	"experimental-keystone-ca-file":           "use --oidc-issuer-url or --authentication-token-webhook-config-file",
	"experimental-keystone-url":               "use --oidc-issuer-url or --authentication-token-webhook-config-file",
	"insecure-allow-any-token":                "use --token-auth-file",
	"insecure-bind-address":                   "the insecure port was removed; use --bind-address",
	"insecure-port":                           "the insecure port was removed; use --secure-port",
	"kubelet-https":                           "kubelets are always called by HTTPS",
	"log-dir":                                 "redirect stderr",
	"log-file":                                "redirect stderr",
	"logtostderr":                             "logs always go to stderr",
	"alsologtostderr":                         "logs always go to stderr",
	"master-service-namespace":                "the namespace is always default",
	"port":                                    "the insecure port was removed; use --secure-port",
	"public-address-override":                 "use --advertise-address",
	"repair-malformed-updates":                "the server no longer repairs updates",
	"service-account-api-audiences":           "use --api-audiences",
	"ssh-keyfile":                             "use --egress-selector-config-file",
	"ssh-user":                                "use --egress-selector-config-file",
	"storage-version":                         "use --storage-backend; the server chooses versions",
	"storage-versions":                        "the server chooses versions",
	"target-ram-mb":                           "use --watch-cache-sizes",
	"tls-ca-file":                             "use --client-ca-file",
}

// explainFlag adds to upstream's error what took the place of a flag that is gone.
func explainFlag(_ *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	if instead, ok := removedFlags[unknown.GetSpecifiedName()]; ok {
		return fmt.Errorf("%w: removed from Kubernetes; %s", err, instead)
	}
	return err
}
