import groovy.json.JsonOutput
import groovy.json.JsonSlurper

/**
 * The steps of Jenkins that `faultlineReport` uses, as its plugins document them, over real HTTP. Reads one run a line from standard input,
 * `{env, result, arguments}`, and prints what became of it: what was echoed, what went wrong, what was sent.
 */
def jenkins = new GroovyClassLoader(getClass().classLoader)
jenkins.parseClass('package com.cloudbees.groovy.cps; import java.lang.annotation.*; @Retention(RetentionPolicy.RUNTIME) @interface NonCPS {}')
def shell = new GroovyShell(jenkins)
// A declarative pipeline is Groovy, too: it must compile.
new GroovyShell(jenkins).parse('@interface Library { String value() }\n' + new File(args[1]).text, 'Jenkinsfile.groovy')

System.in.eachLine { line ->
  def run = new JsonSlurper().parseText(line)
  def told = [echoed: [], failed: null, requests: [], credentials: []]
  def env = [:] + run.env
  def step = shell.parse(new File(args[0]))
  def steps = [
    env: env,
    currentBuild: [currentResult: run.result, startTimeInMillis: 1772366400000L],
    echo: { Object text -> told.echoed << text.toString() },
    error: { String message -> throw new RuntimeException(message) },
    string: { Map credential -> credential },
    catchError: { Map options, Closure body ->
      assert options.keySet() == ['message', 'buildResult', 'stageResult', 'catchInterruptions'] as Set && options.buildResult == null
      try {
        body()
      } catch (Exception error) {
        told.failed = options.message + ': ' + error.message
      }
    },
    withCredentials: { List credentials, Closure body ->
      told.credentials.addAll(credentials*.credentialsId)
      credentials.each { env[it.variable] = run.secret }
      try {
        body()
      } finally {
        credentials.each { env.remove(it.variable) }
      }
    },
    httpRequest: { Map options ->
      told.requests << [url: options.url, headers: options.customHeaders.collectEntries { [it.name, it.maskValue ? '****' : it.value] }, body: options.requestBody]
      assert options.quiet && options.contentType == 'APPLICATION_JSON' && options.timeout > 0
      def connection = (HttpURLConnection) new URL(options.url).openConnection()
      connection.requestMethod = options.httpMode
      connection.doOutput = true
      connection.setRequestProperty('Content-Type', 'application/json')
      options.customHeaders.each { connection.setRequestProperty(it.name, it.value) }
      // The plugin's encoding where a content type names none.
      connection.outputStream.withStream { it << options.requestBody.getBytes('ISO-8859-1') }
      if (connection.responseCode.toString() != options.validResponseCodes) {
        throw new IllegalStateException("Fail: Status code ${connection.responseCode} is not in the accepted range: ${options.validResponseCodes}")
      }
    }
  ]
  step.binding = new Binding(steps)
  run.arguments == null ? step.call() : step.call(run.arguments)
  println JsonOutput.toJson(told)
}
