package ship

import (
	"context"
	"fmt"
	"net/http"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/slipway-dev/slipway/internal/report"
)

// TokenLife is how long a token of [Cluster.Token] is asked to last; a server may give it less.
const TokenLife = time.Hour

// Token is a new token of a ServiceAccount, as pods get it, with the time when it expires. An empty namespace is that
// of the kubeconfig.
func (c *Cluster) Token(ctx context.Context, namespace, account string) (token string, expires time.Time, err error) {
	if namespace == "" {
		namespace = c.namespace
	}
	wanted := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"expirationSeconds": int64(TokenLife / time.Second)}}}
	wanted.SetGroupVersionKind(authenticationv1.SchemeGroupVersion.WithKind("TokenRequest"))
	wanted.SetName(account)
	accounts := c.objects.Resource(schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}).Namespace(namespace)
	answer, err := accounts.Create(ctx, wanted, metav1.CreateOptions{}, "token")
	if apierrors.IsNotFound(err) {
		return "", expires, &report.Error{What: "the cluster has no such ServiceAccount", Where: namespace + "/" + account,
			Hint: "deploy the operator's ServiceAccount and roles first, or create it", Next: "slipway kubectl -n " + namespace + " create serviceaccount " + account}
	}
	if err != nil {
		return "", expires, c.explain(ctx, fmt.Errorf("ask for a token of ServiceAccount %s/%s: %w", namespace, account, err))
	}
	token, _, _ = unstructured.NestedString(answer.Object, "status", "token")
	text, _, _ := unstructured.NestedString(answer.Object, "status", "expirationTimestamp")
	expires, err = time.Parse(time.RFC3339, text)
	return token, expires, err
}

// KubeconfigWith is the text of a kubeconfig for the cluster by a token in a file, which clients read again.
func (c *Cluster) KubeconfigWith(tokenFile string) ([]byte, error) {
	const name = "slipway"
	tls := c.config.TLSClientConfig
	proxy, err := c.proxy()
	if err != nil {
		return nil, err
	}
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: c.server, TLSServerName: tls.ServerName, InsecureSkipTLSVerify: tls.Insecure,
		CertificateAuthority: tls.CAFile, CertificateAuthorityData: tls.CAData, ProxyURL: proxy, DisableCompression: c.config.DisableCompression}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{TokenFile: tokenFile}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: c.namespace}
	config.CurrentContext = name
	return clientcmd.Write(*config)
}

// proxy is the proxy-url of the kubeconfig; empty if it has none, so that the environment decides.
func (c *Cluster) proxy() (string, error) {
	if c.config.Proxy == nil {
		return "", nil
	}
	request, err := http.NewRequest(http.MethodGet, c.server, http.NoBody)
	if err != nil {
		return "", err
	}
	proxy, err := c.config.Proxy(request)
	if err != nil || proxy == nil {
		return "", err
	}
	return proxy.String(), nil
}
