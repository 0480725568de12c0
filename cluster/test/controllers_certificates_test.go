package test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// request is a certificate request and the key that it is for.
type request struct {
	key       []byte // PEM
	object    *certificatesv1.CertificateSigningRequest
	requester kubernetes.Interface
}

func newRequest(t *testing.T, c clients, name, signer string, subject pkix.Name, dns []string, usages ...certificatesv1.KeyUsage) request {
	t.Helper()
	key := must[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	der := must[[]byte](t)(x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: subject, DNSNames: dns}, key))
	return request{
		key:       pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: must[[]byte](t)(x509.MarshalECPrivateKey(key))}),
		requester: c,
		object: &certificatesv1.CertificateSigningRequest{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: certificatesv1.CertificateSigningRequestSpec{
				SignerName: signer, Usages: usages,
				Request: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
			},
		},
	}
}

func (r request) make(t *testing.T) *certificatesv1.CertificateSigningRequest {
	t.Helper()
	return must[*certificatesv1.CertificateSigningRequest](t)(
		r.requester.CertificatesV1().CertificateSigningRequests().Create(t.Context(), r.object, metav1.CreateOptions{}))
}

// approve is what `kubectl certificate approve` does.
func (r request) approve(t *testing.T, c clients) {
	t.Helper()
	made := r.make(t)
	made.Status.Conditions = append(made.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
		Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "Test",
	})
	must[*certificatesv1.CertificateSigningRequest](t)(
		c.CertificatesV1().CertificateSigningRequests().UpdateApproval(t.Context(), made.Name, made, metav1.UpdateOptions{}))
}

// certificate waits for the certificate, which the cluster's authority must have signed.
func (r request) certificate(t *testing.T, c clients, usage x509.ExtKeyUsage) []byte {
	t.Helper()
	var issued []byte
	eventually(t, "request "+r.object.Name+" is signed", func(ctx context.Context) (bool, error) {
		got, err := c.CertificatesV1().CertificateSigningRequests().Get(ctx, r.object.Name, metav1.GetOptions{})
		if err == nil {
			issued = got.Status.Certificate
		}
		return len(issued) > 0, err
	})
	authority := x509.NewCertPool()
	authority.AppendCertsFromPEM(c.config.CAData)
	pair := must[tls.Certificate](t)(tls.X509KeyPair(issued, r.key))
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: authority, KeyUsages: []x509.ExtKeyUsage{usage}}); err != nil {
		t.Errorf("%s: %v", r.object.Name, err)
	}
	return issued
}

func approvedCertificateWorks(t *testing.T, c clients, ns string) {
	r := newRequest(t, c, ns, certificatesv1.KubeAPIServerClientSignerName,
		pkix.Name{CommonName: "jane", Organization: []string{"developers"}}, nil, certificatesv1.UsageClientAuth)
	r.approve(t, c)
	config := rest.AnonymousClientConfig(c.config)
	config.CertData, config.KeyData = r.certificate(t, c, x509.ExtKeyUsageClientAuth), r.key
	jane := must[*kubernetes.Clientset](t)(kubernetes.NewForConfig(config))
	self := must[*authenticationv1.SelfSubjectReview](t)(
		jane.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{}))
	if self.Status.UserInfo.Username != "jane" || self.Status.UserInfo.Groups[0] != "developers" {
		t.Errorf("the API server sees %+v", self.Status.UserInfo)
	}
}

func servingCertificateIsSigned(t *testing.T, c clients, ns string) {
	node := pkix.Name{CommonName: "system:node:" + ns, Organization: []string{"system:nodes"}}
	serving := newRequest(t, c, ns, certificatesv1.KubeletServingSignerName, node, []string{"node.example.com"},
		certificatesv1.UsageDigitalSignature, certificatesv1.UsageServerAuth)
	serving.requester = asNode(t, c, node)
	grant(t, c, ns, node.CommonName, "create", "certificatesigningrequests")
	serving.approve(t, c)
	serving.certificate(t, c, x509.ExtKeyUsageServerAuth)
}

func nodeRequestIsApproved(t *testing.T, c clients, ns string) {
	node := pkix.Name{CommonName: "system:node:" + ns, Organization: []string{"system:nodes"}}
	grant(t, c, ns, node.CommonName, "create", "certificatesigningrequests", "certificatesigningrequests/selfnodeclient")
	r := newRequest(t, c, ns, certificatesv1.KubeAPIServerClientKubeletSignerName, node, nil,
		certificatesv1.UsageDigitalSignature, certificatesv1.UsageClientAuth)
	r.requester = asNode(t, c, node)
	r.make(t)
	r.certificate(t, c, x509.ExtKeyUsageClientAuth)
}

func asNode(t *testing.T, c clients, node pkix.Name) kubernetes.Interface {
	t.Helper()
	config := rest.CopyConfig(c.config)
	config.Impersonate.UserName, config.Impersonate.Groups = node.CommonName, node.Organization
	return must[*kubernetes.Clientset](t)(kubernetes.NewForConfig(config))
}

// grant lets a user do something with resources of certificates.k8s.io, and waits until he may.
func grant(t *testing.T, c clients, name, user, verb string, resources ...string) {
	t.Helper()
	rule := rbacv1.PolicyRule{APIGroups: []string{certificatesv1.GroupName}, Resources: resources, Verbs: []string{verb}}
	must[*rbacv1.ClusterRole](t)(c.RbacV1().ClusterRoles().Create(t.Context(),
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{rule}}, metav1.CreateOptions{}))
	must[*rbacv1.ClusterRoleBinding](t)(c.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}, metav1.CreateOptions{}))
	waitAllowed(t, c, user, verb, "certificatesigningrequests")
}
