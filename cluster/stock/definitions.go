package stock

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	extensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	extensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// definitionsVariable names a file of custom resource definitions that the API server begins with: `slipway test` has
// found them in the modules that the suite's project requires.
const definitionsVariable = "SLIPWAY_DEFINITIONS"

// wantedDefinitions are the definitions in the file that the environment names, if it does.
func wantedDefinitions() ([]*extensionsv1.CustomResourceDefinition, error) {
	path := os.Getenv(definitionsVariable)
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", definitionsVariable, err)
	}
	var all []*extensionsv1.CustomResourceDefinition
	for documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text))); ; {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		d := &extensionsv1.CustomResourceDefinition{}
		if err == nil {
			err = yaml.Unmarshal(document, d)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", definitionsVariable, path, err)
		}
		if d.Name != "" {
			all = append(all, d)
		}
	}
}

// definitionsHook is the start-up hook that brings definitions. The server is ready when it is through.
const definitionsHook = "slipway/define"

// startDefinitions makes the hook. A definition that the server refuses is logged and left out: a suite that needs its
// kind says so, and others go on.
func startDefinitions(list []*extensionsv1.CustomResourceDefinition) genericapiserver.PostStartHookFunc {
	return func(hook genericapiserver.PostStartHookContext) error {
		config := rest.CopyConfig(hook.LoopbackClientConfig)
		config.QPS, config.Burst = -1, 0 // in the same process: no limits
		client, err := extensions.NewForConfig(config)
		if err != nil {
			return fmt.Errorf("define kinds: %w", err)
		}
		ctx, cancel := context.WithTimeout(hook.Context, hookTime)
		defer cancel()
		if err := defineAll(ctx, client, list); err != nil && hook.Err() == nil {
			return fmt.Errorf("define kinds: %w", err)
		}
		return nil
	}
}

// definitionPause is between two looks at a definition.
const definitionPause = 5 * time.Millisecond

// defineAll creates definitions, and returns when those that were accepted are served. It waits until the server lists
// definitions: from then on a refusal is one for good.
func defineAll(ctx context.Context, client extensions.Interface, list []*extensionsv1.CustomResourceDefinition) error {
	definitions := client.ApiextensionsV1().CustomResourceDefinitions()
	err := wait.PollUntilContextCancel(ctx, definitionPause, true, func(ctx context.Context) (bool, error) {
		_, err := definitions.List(ctx, metav1.ListOptions{Limit: 1})
		return err == nil, nil
	})
	if err != nil {
		return fmt.Errorf("list definitions: %w", err)
	}
	var made []string
	for _, d := range list {
		err := wait.PollUntilContextCancel(ctx, definitionPause, true, func(ctx context.Context) (bool, error) {
			_, err := definitions.Create(ctx, d, metav1.CreateOptions{})
			switch {
			case err == nil || apierrors.IsAlreadyExists(err):
				made = append(made, d.Name)
				return true, nil
			case isRefusal(err):
				klog.ErrorS(err, "A definition was refused", "name", d.Name)
				return true, nil
			}
			return false, nil
		})
		if err != nil {
			return fmt.Errorf("%s: %w", d.Name, err)
		}
	}
	for _, name := range made {
		err := wait.PollUntilContextCancel(ctx, definitionPause, true, func(ctx context.Context) (bool, error) {
			d, err := definitions.Get(ctx, name, metav1.GetOptions{})
			return err == nil && settled(d), nil
		})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// isRefusal reports whether a server that works will never take the same object: it is invalid, say, or larger than a
// request, or than what etcd stores, which the server calls an internal error. What passes with time is none: that the
// server has too much to do, gave up waiting or was not reached.
func isRefusal(err error) bool {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return false
	}
	return !apierrors.IsTooManyRequests(err) && !apierrors.IsServiceUnavailable(err) && !apierrors.IsServerTimeout(err) && !apierrors.IsTimeout(err)
}

// settled reports whether a definition is served, or will not be since its names are another's.
func settled(d *extensionsv1.CustomResourceDefinition) bool {
	for _, c := range d.Status.Conditions {
		if c.Type == extensionsv1.Established && c.Status == extensionsv1.ConditionTrue ||
			c.Type == extensionsv1.NamesAccepted && c.Status == extensionsv1.ConditionFalse {
			return true
		}
	}
	return false
}
