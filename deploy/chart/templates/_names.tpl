{{/* Names and labels. What is called as (list $ "server") is about one of the two parts. */}}

{{- define "elasticron.name" -}}
{{- $name := ternary .Release.Name (printf "%s-elasticron" .Release.Name) (contains "elasticron" .Release.Name) -}}
{{- $name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "elasticron.partName" -}}
{{ include "elasticron.name" (index . 0) }}-{{ index . 1 }}
{{- end -}}

{{- define "elasticron.selector" -}}
app.kubernetes.io/name: elasticron
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "elasticron.metadata" -}}
name: {{ include "elasticron.partName" . }}
namespace: {{ (index . 0).Release.Namespace }}
labels:
  {{- include "elasticron.selector" . | nindent 2 }}
  app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion | quote }}
  app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
  helm.sh/chart: {{ (index . 0).Chart.Name }}-{{ (index . 0).Chart.Version }}
{{- end -}}

{{/* The image of a part: its own if it names a repository, else that of all. */}}
{{- define "elasticron.image" -}}
{{- $of := (index . 0).Values.image -}}
{{- $own := (index (index . 0).Values (index . 1)).image | default dict -}}
{{- if $own.repository -}}{{- $of = $own -}}{{- end -}}
{{- if $of.digest -}}
{{ $of.repository }}@{{ $of.digest }}
{{- else -}}
{{ $of.repository }}:{{ $of.tag }}
{{- end -}}
{{- end -}}
