package certmanager

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// scrape collects metrics as the ServiceMonitor tells the Prometheus operator: by that name, trusting the authority in
// that Secret. Those may who have a token and hold the role, nobody else.
func (o operator) scrape(t *testing.T) {
	t.Helper()
	stranger, reader := o.account(t), o.account(t)
	o.create(t, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: reader.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: o.prefix + "metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: reader.Namespace, Name: reader.Name}},
	})
	for _, test := range []struct {
		who, token string
		want       int
	}{
		{"nobody", "", http.StatusUnauthorized},
		{"somebody without the role", o.token(t, stranger), http.StatusForbidden},
		{"a reader", o.token(t, reader), http.StatusOK},
	} {
		service := "service/" + o.prefix + "controller-manager-metrics-service"
		o.through(t, test.who+" asks for metrics", o.namespace, service, 8443, func(ctx context.Context, address string) error {
			collector, err := o.collector(ctx, t)
			if err != nil {
				return err
			}
			defer collector.CloseIdleConnections()
			return ask(ctx, collector, "https://"+address+"/metrics", test.token, test.want)
		})
	}
}

// account is a new service account.
func (o operator) account(t *testing.T) client.ObjectKey {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, GenerateName: "collector-"}}
	o.create(t, account)
	return client.ObjectKeyFromObject(account)
}

// collector trusts whom the ServiceMonitor says.
func (o operator) collector(ctx context.Context, t *testing.T) (*http.Client, error) {
	t.Helper()
	of := o.monitor(t).Endpoints[0].TLSConfig
	var secret corev1.Secret
	if err := o.Get(ctx, client.ObjectKey{Namespace: o.namespace, Name: of.CA.Secret.Name}, &secret); err != nil {
		return nil, err
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: authorities(secret.Data[of.CA.Secret.Key], of.ServerName)}}, nil
}

// ask asks for the metrics with a token, and wants that answer.
func ask(ctx context.Context, collector *http.Client, url, token string, want int) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := collector.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	metrics := strings.Contains(string(body), "controller_runtime_webhook_requests_total")
	if response.StatusCode != want || metrics != (want == http.StatusOK) {
		return fmt.Errorf("the answer is %s, with metrics: %v", response.Status, metrics)
	}
	return nil
}
