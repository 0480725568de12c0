package controllers

import (
	"context"
	"fmt"
	"time"

	certificates "k8s.io/client-go/informers/certificates/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/controller/certificates/approver"
	"k8s.io/kubernetes/pkg/controller/certificates/cleaner"
	"k8s.io/kubernetes/pkg/controller/certificates/signer"
)

// Upstream: cmd/kube-controller-manager/app/certificates.go.

// certificateLife is upstream's default; a request may ask for less.
const certificateLife = 365 * 24 * time.Hour

// newCertificateApproving approves what nodes ask for themselves.
func newCertificateApproving(ctx context.Context, d *Deps) (Loop, error) {
	client, err := d.client("certificate-controller")
	if err != nil {
		return nil, err
	}
	c := approver.NewCSRApprovingController(ctx, client, d.Informers.Certificates().V1().CertificateSigningRequests())
	return func(ctx context.Context) { c.Run(ctx, 1) }, nil
}

// A newSigner makes the controller of one signer. All sign with the cluster's one authority.
type newSigner func(ctx context.Context, client kubernetes.Interface, requests certificates.CertificateSigningRequestInformer,
	caFile, caKeyFile string, life time.Duration) (*signer.CSRSigningController, error)

// newCertificateSigning signs approved requests. Upstream has a fourth signer, legacy-unknown, for a version of the
// API that is served no more. As there without --cluster-signing-cert-file, nobody signs without an authority.
func newCertificateSigning(ctx context.Context, d *Deps) (Loop, error) {
	if d.CAFile == "" {
		return together(), nil
	}
	client, err := d.client("certificate-controller")
	if err != nil {
		return nil, err
	}
	var loops []Loop
	for name, make := range map[string]newSigner{
		"kubernetes.io/kubelet-serving":               signer.NewKubeletServingCSRSigningController,
		"kubernetes.io/kube-apiserver-client-kubelet": signer.NewKubeletClientCSRSigningController,
		"kubernetes.io/kube-apiserver-client":         signer.NewKubeAPIServerClientCSRSigningController,
	} {
		c, err := make(ctx, client, d.Informers.Certificates().V1().CertificateSigningRequests(), d.CAFile, d.CAKeyFile, certificateLife)
		if err != nil {
			return nil, fmt.Errorf("make the signer %s: %w", name, err)
		}
		loops = append(loops, func(ctx context.Context) { c.Run(ctx, 1) })
	}
	return together(loops...), nil
}

// newCertificateCleaner removes old requests.
func newCertificateCleaner(_ context.Context, d *Deps) (Loop, error) {
	client, err := d.client("certificate-controller")
	if err != nil {
		return nil, err
	}
	certificates := d.Informers.Certificates().V1().CertificateSigningRequests()
	c := cleaner.NewCSRCleanerController(client.CertificatesV1().CertificateSigningRequests(), certificates)
	return func(ctx context.Context) { c.Run(ctx, 1) }, nil
}
