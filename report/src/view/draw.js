// Two ways to draw a scene in 3D: WebGL 2, and in its absence a depth buffer of our own.
//
// A scene has { surface, lines: [{ points, colour }], picture: { canvas, corners, version } | null }; a camera has
// { matrix, view, eye }.

const LIGHT = "vec3(.45,.75,.6)";
const shaders = {
  surface: [
    `in vec3 point;in vec3 normal;in vec3 colour;uniform mat4 matrix;uniform mat4 view;out vec3 n;out vec3 c;out vec3 e;
void main(){n=mat3(view)*normal;c=colour;e=-(view*vec4(point,1)).xyz;gl_Position=matrix*vec4(point,1);}`,
    `in vec3 n;in vec3 c;in vec3 e;out vec4 o;
void main(){vec3 m=normalize(n),w=normalize(e);if(dot(m,w)<0.)m=-m;
float d=max(dot(m,normalize(${LIGHT})),0.),s=pow(max(dot(m,normalize(normalize(${LIGHT})+w)),0.),36.);
vec3 lit=pow(c,vec3(2.2))*(.42+.18*m.y+.6*d)+.06*s;o=vec4(pow(max(lit,0.),vec3(1./2.2)),1);}`,
  ],
  lines: [
    "in vec3 point;uniform mat4 matrix;void main(){gl_Position=matrix*vec4(point,1);gl_Position.z-=2e-4*gl_Position.w;}",
    "uniform vec4 colour;out vec4 o;void main(){o=colour;}",
  ],
  picture: [
    "in vec3 point;in vec3 normal;uniform mat4 matrix;out vec2 t;void main(){t=normal.xy;gl_Position=matrix*vec4(point,1);}",
    "in vec2 t;uniform sampler2D image;out vec4 o;void main(){o=texture(image,t);}",
  ],
};

function openGl(canvas) {
  const gl = canvas.getContext("webgl2", { antialias: true, premultipliedAlpha: false, preserveDrawingBuffer: true });
  if (!gl) return null;
  const compile = (kind, text) => {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, `#version 300 es\nprecision highp float;${text}`);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    return shader;
  };
  const programs = {};
  for (const name in shaders) {
    const program = gl.createProgram();
    gl.attachShader(program, compile(gl.VERTEX_SHADER, shaders[name][0]));
    gl.attachShader(program, compile(gl.FRAGMENT_SHADER, shaders[name][1]));
    ["point", "normal", "colour"].forEach((attribute, i) => gl.bindAttribLocation(program, i, attribute));
    gl.linkProgram(program);
    programs[name] = program;
  }
  const uniform = (program, name) => gl.getUniformLocation(program, name);
  const kept = new Map();
  // The arrays of an object in the memory of the device, made again where its version has changed.
  const arrays = (key, version, parts) => {
    const old = kept.get(key);
    if (old && old.version === version) return old.array;
    old?.buffers.forEach((buffer) => gl.deleteBuffer(buffer));
    const array = old?.array ?? gl.createVertexArray();
    gl.bindVertexArray(array);
    const buffers = parts.map((data, i) => {
      const buffer = gl.createBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
      gl.enableVertexAttribArray(i);
      const isBytes = data instanceof Uint8Array;
      gl.vertexAttribPointer(i, 3, isBytes ? gl.UNSIGNED_BYTE : gl.FLOAT, isBytes, 0, 0);
      return buffer;
    });
    kept.set(key, { version, array, buffers });
    return array;
  };
  let texture = null;
  let shown = null;
  const upload = (picture) => {
    texture ??= gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    if (shown === picture.version) return;
    shown = picture.version;
    gl.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, true);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, picture.canvas);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
  };
  const draw = (scene, camera) => {
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    const begin = (program) => {
      gl.useProgram(program);
      gl.uniformMatrix4fv(uniform(program, "matrix"), false, camera.matrix);
    };
    const { surface, lines, picture } = scene;
    if (surface) {
      begin(programs.surface);
      gl.uniformMatrix4fv(uniform(programs.surface, "view"), false, camera.view);
      gl.bindVertexArray(arrays("surface", surface.version, [surface.corners, surface.normals, surface.colours]));
      gl.drawArrays(gl.TRIANGLES, 0, 3 * surface.count);
    }
    if (picture) {
      begin(programs.picture);
      upload(picture);
      gl.bindVertexArray(arrays("picture", picture.version, [picture.corners, new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0])]));
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    }
    begin(programs.lines);
    lines.forEach((line) => {
      gl.uniform4f(uniform(programs.lines, "colour"), ...line.colour.map((c) => c / 255), 1);
      gl.bindVertexArray(arrays(line.points, 0, [line.points]));
      gl.drawArrays(gl.LINES, 0, line.points.length / 3);
    });
    gl.bindVertexArray(null);
  };
  return { draw, hasPictures: true };
}

// Draws by one processor into the pixels of a 2D canvas, in half of its resolution.
function openPlain(canvas) {
  const context = canvas.getContext("2d");
  const small = make("canvas");
  const light = unit([0.45, 0.75, 0.6]);
  const project = (m, p, o, w, h) => {
    const row = (k) => m[k] * p[o] + m[4 + k] * p[o + 1] + m[8 + k] * p[o + 2] + m[12 + k];
    const by = row(3);
    return by > 0 ? [((row(0) / by + 1) * w) / 2, ((1 - row(1) / by) * h) / 2, row(2) / by] : null;
  };
  const triangle = (pixels, depth, w, h, [a, b, c], shade) => {
    const size = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    if (size === 0) return;
    const [x0, x1] = [Math.max(0, Math.ceil(Math.min(a[0], b[0], c[0]))), Math.min(w - 1, Math.max(a[0], b[0], c[0]))];
    const [y0, y1] = [Math.max(0, Math.ceil(Math.min(a[1], b[1], c[1]))), Math.min(h - 1, Math.max(a[1], b[1], c[1]))];
    for (let y = y0; y <= y1; y++) {
      for (let x = x0; x <= x1; x++) {
        const u = ((x - a[0]) * (c[1] - a[1]) - (y - a[1]) * (c[0] - a[0])) / size;
        const v = ((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])) / size;
        if (u < 0 || v < 0 || u + v > 1) continue;
        const z = a[2] + u * (b[2] - a[2]) + v * (c[2] - a[2]);
        const i = y * w + x;
        if (z >= depth[i]) continue;
        depth[i] = z;
        pixels[i] = shade;
      }
    }
  };
  const draw = ({ surface, lines }, camera) => {
    const [w, h] = [canvas.width >> 1, canvas.height >> 1];
    [small.width, small.height] = [w, h];
    const image = small.getContext("2d").createImageData(w, h);
    const pixels = new Uint32Array(image.data.buffer);
    const depth = new Float32Array(w * h).fill(1);
    const turn = (n, o) => [0, 1, 2].map((k) => camera.view[k] * n[o] + camera.view[4 + k] * n[o + 1] + camera.view[8 + k] * n[o + 2]);
    for (let f = 0; surface && f < surface.count; f++) {
      const o = 9 * f;
      const corners = [0, 3, 6].map((k) => project(camera.matrix, surface.corners, o + k, w, h));
      if (corners.includes(null)) continue;
      const n = turn(surface.normals, o);
      const by = 0.45 + 0.55 * Math.max(0, Math.sign(n[2]) * dot(n, light));
      const [r, g, b] = [0, 1, 2].map((k) => Math.min(255, surface.colours[o + k] * by));
      triangle(pixels, depth, w, h, corners, (255 << 24) | (b << 16) | (g << 8) | r);
    }
    small.getContext("2d").putImageData(image, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.drawImage(small, 0, 0, canvas.width, canvas.height);
    for (const line of lines) {
      context.strokeStyle = css(line.colour);
      context.beginPath();
      for (let i = 0; i < line.points.length; i += 6) {
        const [from, to] = [i, i + 3].map((o) => project(camera.matrix, line.points, o, canvas.width, canvas.height));
        if (!from || !to) continue;
        context.moveTo(from[0], from[1]);
        context.lineTo(to[0], to[1]);
      }
      context.stroke();
    }
  };
  return { draw, hasPictures: false };
}
