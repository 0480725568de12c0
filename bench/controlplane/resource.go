package controlplane

import (
	"context"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/slipway-dev/slipway/bench/widget"
)

// poll is how often a state is asked for that takes milliseconds to come about.
const poll = 5 * time.Millisecond

// Establish installs the custom resource of package widget, unless it is there, and returns when it can be listed: an
// established resource is served a moment later.
func (p *Plane) Establish(ctx context.Context) error {
	client, err := apiextensions.NewForConfig(p.Config)
	if err != nil {
		return err
	}
	if err := establish(ctx, client); err != nil {
		return err
	}
	request := client.RESTClient().Get().AbsPath(widget.ListPath).MaxRetries(0)
	return wait.PollUntilContextCancel(ctx, poll, true, func(ctx context.Context) (bool, error) {
		_, err := request.DoRaw(ctx)
		return err == nil, nil
	})
}

func establish(ctx context.Context, client apiextensions.Interface) error {
	crds := client.ApiextensionsV1().CustomResourceDefinitions()
	if _, err := crds.Create(ctx, widget.CRD(), metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create the CRD: %w", err)
	}
	return wait.PollUntilContextCancel(ctx, poll, true, func(ctx context.Context) (bool, error) {
		crd, err := crds.Get(ctx, widget.CRD().Name, metav1.GetOptions{})
		if err != nil {
			return false, fmt.Errorf("get the CRD: %w", err)
		}
		for _, c := range crd.Status.Conditions {
			if c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue {
				return true, nil
			}
		}
		return false, nil
	})
}
