// Package manager declares webhooks of every sort.
package manager

// +kubebuilder:webhook:path=/validate-batch-example-com-v1-cronjob,mutating=false,failurePolicy=fail,sideEffects=None,groups=batch.example.com,resources=cronjobs;cronjobs/status,verbs=create;update,versions=v1,name=vcronjob-v1.example.com,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/mutate-batch-example-com-v1-cronjob,mutating=true,failurePolicy=Ignore,matchPolicy=exact,sideEffects=noneOnDryRun,groups=core;batch.example.com,resources=*,verbs=*,versions=v1;v1beta1,name=mcronjob-v1.example.com,admissionReviewVersions={v1,v1beta1},reinvocationPolicy=ifNeeded,timeoutSeconds=7

// +kubebuilder:webhook:verbs=delete;connect,url="https://example.com:9443/check?a=b&c",mutating=false,failurePolicy=fail,sideEffects=None,groups="",resources=pods,versions=v1,name=a.example.com,admissionReviewVersions=v1,webhookVersions=v1

// Check is the doc comment's; the marker above it is the package's.
func Check() {}

// +kubebuilder:webhook:path=/mutate-pods,mutating=true,failurePolicy=fail,sideEffects=None,groups="",resources=pods,verbs=create,versions=v1,name=10.example.com,admissionReviewVersions=v1,serviceName=hooks,serviceNamespace=kube-system,servicePort=8443,patch=`{"namespaceSelector":{"matchExpressions":[{"key":"tier","operator":"In","values":["b","a"]}]},"matchConditions":[{"name":"small","expression":"object.spec.containers.size() < 3"}],"timeoutSeconds":5}`
