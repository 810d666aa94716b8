import Hummingbird

import Yams
import ArgumentParser
