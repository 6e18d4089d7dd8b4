using System.Linq;

/// <summary>Runs the program's own Main and gives back the proof once it has returned.</summary>
static class ProctorLaunch
{
    static string Turn(string text)
    {
        var letters = text.ToCharArray();
        System.Array.Reverse(letters);
        return new string(letters);
    }

    static int Main()
    {
        var turned = Turn((System.Console.In.ReadLine() ?? "").Trim());
        var output = System.Console.OpenStandardOutput();
        const System.Reflection.BindingFlags any = System.Reflection.BindingFlags.Static
            | System.Reflection.BindingFlags.Public | System.Reflection.BindingFlags.NonPublic
            | System.Reflection.BindingFlags.DeclaredOnly;
        var found = System.Reflection.Assembly.GetExecutingAssembly().GetTypes()
            .Where(type => type != typeof(ProctorLaunch))
            .SelectMany(type => type.GetMethods(any)).Where(method => method.Name == "Main").ToArray();
        if (found.Length != 1)
        {
            System.Console.Error.WriteLine("error: " + found.Length + " methods called Main");
            return 1;
        }
        var words = found[0].GetParameters().Length == 0 ? null : new object[] { new string[0] };
        object made = null;
        try
        {
            made = found[0].Invoke(null, words);
            if (made is System.Threading.Tasks.Task)
                ((System.Threading.Tasks.Task)made).GetAwaiter().GetResult();
        }
        catch (System.Reflection.TargetInvocationException thrown)
        {
            System.Console.Error.WriteLine("Unhandled Exception: " + thrown.InnerException);
            return 1;
        }
        if (made is int && (int)made != 0)
            return (int)made;
        System.Console.Out.Flush();
        var proof = System.Text.Encoding.ASCII.GetBytes("\n" + Turn(turned) + "\n");
        output.Write(proof, 0, proof.Length);
        output.Flush();
        return 0;
    }
}
