import Foundation
import JPEGCodec
import OnesheetImaging
import OnesheetIsolation
import PNGCodec

/// `imaging-bench draw DIRECTORY` draws the originals. `imaging-bench serve DIRECTORY` reads lines `JOB REPEATS` from standard
/// input and prints the seconds of one run: of processors and on the clock. `imaging-bench write DIRECTORY` writes the result of each job.
/// `draw-scenes` and `encode` do so for `quality.py`. With `process:JOB` it renders in a process of its own, which is this program too.
RenderProgram.runIfAsked { _, _ in CodecSet(codecs: [JPEGCodec(), PNGCodec()]) }
let arguments = CommandLine.arguments
guard arguments.count == 3 else {
    print("usage: imaging-bench draw|serve|write|peak|draw-scenes|encode DIRECTORY")
    exit(64)
}
let directory = URL(fileURLWithPath: arguments[2])
switch arguments[1] {
case "draw": try Originals(directory: directory).draw()
case "write": try Jobs(Originals(directory: directory)).write(to: directory)
case "serve": try Jobs(Originals(directory: directory)).serve()
case "draw-scenes": try Encodings(directory: directory).draw()
case "encode": try Encodings(directory: directory).serve()
case "peak": try Jobs(Originals(directory: directory)).peak()
default:
    print("unknown command \(arguments[1])")
    exit(64)
}
